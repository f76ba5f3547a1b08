// SPDX-License-Identifier: Apache-2.0
// Opens the listening sockets of operators' ports.
#pragma once

#include <functional>
#include <memory>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/timer_wheel.h"
#include "net/byte_stream.h"
#include "net/event_loop.h"
#include "net/listener.h"
#include "settings/snapshot.h"

namespace levee {

// Returns the error of an address: its position, or `field` where it has none ("admin.address"),
// and `why`.
absl::Status AddressFault(const ListenAddress& address, std::string_view field,
                          std::string_view why);

// Listens at `address`, with the descriptors that callers leave. The error is an AddressFault that
// says which address failed, why, and what helps.
absl::StatusOr<std::unique_ptr<net::Listener>> OpenControlListener(
    net::EventLoop& loop, TimerWheel& wheel, const ListenAddress& address, std::string_view field,
    std::function<void(net::ByteStream stream)> accepted);

}  // namespace levee
