// SPDX-License-Identifier: Apache-2.0
// One store of the configuration: where state is kept that several sidecars share.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "base/server_address.h"
#include "tls/client_source.h"

namespace levee {

// The name and the proof that a client shows.
struct StoreLogin {
  std::string username;  // empty: Redis' own default
  std::string password;  // empty: none

  friend bool operator==(const StoreLogin&, const StoreLogin&) = default;
};

struct StoreSpec {
  std::string name;
  // One server, some nodes of a cluster, or the sentinels of `master`.
  std::vector<ServerAddress> servers;
  std::string master;  // the name by which sentinels know the primary; empty: there are none
  StoreLogin login;
  StoreLogin sentinel_login;
  // nullopt: without TLS. Specs whose files alone have changed are equal, as tls::ClientSource
  // says.
  std::optional<tls::ClientSource> tls;
  std::string prefix;  // of every key
  absl::Duration timeout = absl::Milliseconds(50);

  friend bool operator==(const StoreSpec&, const StoreSpec&) = default;
};

}  // namespace levee
