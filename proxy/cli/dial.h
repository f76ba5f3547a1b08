// SPDX-License-Identifier: Apache-2.0
// Connects for commands that may wait, and bounds how long they do.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "net/address.h"
#include "settings/upstream_spec.h"

namespace levee {

// The reason that errno has.
absl::Status SystemError();

// Connects to the addresses of `host` until `then`, which gets the socket of a connection and
// leaves it open, returns OK. Returns the last error. May take as long as the system allows.
absl::Status Connect(const std::string& host, uint16_t port,
                     const std::function<absl::Status(int connection)>& then);

// Runs `task` in a thread of its own and returns what it returns, or an error after `timeout`: the
// system bounds the waits for a name, a connection and an answer each in its way. The thread then
// goes on until the process ends.
absl::Status Within(absl::Duration timeout, std::function<absl::Status()> task);

// Returns the addresses of `host`, a name or an IP literal: those of IPv4, or without any those of
// IPv6, so that a host of both counts once.
absl::StatusOr<std::vector<net::Address>> LookUp(const std::string& host, uint16_t port,
                                                 absl::Duration timeout);

// Returns why no connection to the endpoint, which is not of the kind kAuthority, is there within
// `timeout`.
absl::Status Dial(const EndpointSpec& endpoint, absl::Duration timeout);

}  // namespace levee
