// SPDX-License-Identifier: Apache-2.0
// One store of the configuration: where state is kept that several sidecars share.
#pragma once

#include <cstdint>
#include <string>

#include "absl/time/time.h"

namespace levee {

struct StoreSpec {
  std::string name;
  std::string host;  // of Redis: a name or an IP address
  uint16_t port = 0;
  std::string username;  // empty: Redis' own default
  std::string password;  // empty: none
  std::string prefix;    // of every key
  absl::Duration timeout = absl::Milliseconds(50);

  friend bool operator==(const StoreSpec&, const StoreSpec&) = default;
};

}  // namespace levee
