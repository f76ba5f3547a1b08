// SPDX-License-Identifier: Apache-2.0
// One rate limit of the configuration, as plain values.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "policy/permit_lease.h"

namespace levee {

// A part of the key by which a limit chooses a bucket.
class RateLimitKey {
 public:
  enum class Part { kMethod, kAuthority, kPeer, kHeader };

  static RateLimitKey Method() { return {Part::kMethod, "method"}; }
  static RateLimitKey Authority() { return {Part::kAuthority, "authority"}; }
  // The caller's name by its certificate; empty without one.
  static RateLimitKey Peer() { return {Part::kPeer, "peer"}; }
  // `header`: a name in lower case.
  static RateLimitKey Header(std::string_view header) {
    return {Part::kHeader, std::string(kHeaderPrefix).append(header)};
  }

  Part part() const { return part_; }
  // As the configuration has it: "method", "authority", "peer" or "header:NAME".
  const std::string& name() const { return name_; }
  // The NAME of kHeader.
  std::string_view header() const { return std::string_view(name_).substr(kHeaderPrefix.size()); }

  static constexpr std::string_view kHeaderPrefix = "header:";

  friend bool operator==(const RateLimitKey&, const RateLimitKey&) = default;

 private:
  RateLimitKey(Part part, std::string name) : part_(part), name_(std::move(name)) {}

  Part part_;
  std::string name_;
};

// How a limit is shared by all sidecars with the same store.
struct SharedRate {
  std::string name;   // by which the sidecars know the limit: that of its policy and its own
  std::string store;  // its name in the configuration
  absl::Duration timeout = absl::Milliseconds(50);  // of the store: how long a call waits for it
  StoreAway away = StoreAway::kLast;
  absl::Duration grace = absl::Seconds(60);

  friend bool operator==(const SharedRate&, const SharedRate&) = default;
};

struct RateLimitPolicy {
  std::string name;
  double per_second = 1;          // above zero, at most 10^9
  int burst = 1;                  // at least 1: calls that may come at once after a quiet time
  std::vector<RateLimitKey> key;  // empty: one bucket for all calls
  absl::Duration max_wait = absl::ZeroDuration();  // calls over the rate wait this long; zero: none
  int max_keys = 10'000;                           // buckets, at least 1
  bool adaptive = false;                           // lower the rate on RESOURCE_EXHAUSTED
  std::optional<SharedRate> shared;                // then without max_wait, and not adaptive

  // Only if it is shared.
  LeaseRule lease_rule() const {
    return {.per_second = per_second, .burst = burst, .away = shared->away, .grace = shared->grace};
  }

  friend bool operator==(const RateLimitPolicy&, const RateLimitPolicy&) = default;
};

}  // namespace levee
