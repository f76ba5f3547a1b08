// SPDX-License-Identifier: Apache-2.0
// One rate limit of the configuration, as plain values.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "policy/permit_lease.h"
#include "policy/service_lease.h"

namespace levee {

// A part of the key by which a limit chooses a bucket.
class RateLimitKey {
 public:
  enum class Part { kMethod, kAuthority, kPeer, kHeader, kText };

  static RateLimitKey Method() { return {Part::kMethod, "method"}; }
  static RateLimitKey Authority() { return {Part::kAuthority, "authority"}; }
  // The caller's name by its certificate; empty without one.
  static RateLimitKey Peer() { return {Part::kPeer, "peer"}; }
  // `header`: a name in lower case.
  static RateLimitKey Header(std::string_view header) {
    return {Part::kHeader, std::string(kHeaderPrefix).append(header)};
  }
  // The same for all calls.
  static RateLimitKey Text(std::string_view text) {
    return {Part::kText, std::string(kTextPrefix).append(text)};
  }

  // Returns the part with a name of its own for the entry that it makes.
  static RateLimitKey Named(std::string_view entry, const RateLimitKey& part) {
    RateLimitKey named(part.part_, std::string(entry).append("=").append(part.name_));
    named.entry_size_ = entry.size();
    return named;
  }

  Part part() const { return part_; }
  // As the configuration has it: "method", "authority", "peer", "header:NAME", or "ENTRY=" and one
  // of these or "text:TEXT".
  const std::string& name() const { return name_; }
  // Whether the entry has a name of its own.
  bool named() const { return entry_size_ > 0; }
  // The name of the entry in a call's key.
  std::string_view entry() const {
    return named() ? std::string_view(name_).substr(0, entry_size_) : name_;
  }
  // The NAME of kHeader.
  std::string_view header() const { return source().substr(kHeaderPrefix.size()); }
  // The TEXT of kText.
  std::string_view text() const { return source().substr(kTextPrefix.size()); }

  static constexpr std::string_view kHeaderPrefix = "header:";
  static constexpr std::string_view kTextPrefix = "text:";

  friend std::partial_ordering operator<=>(const RateLimitKey&, const RateLimitKey&) = default;

 private:
  RateLimitKey(Part part, std::string name) : part_(part), name_(std::move(name)) {}

  std::string_view source() const {
    return std::string_view(name_).substr(named() ? entry_size_ + 1 : 0);
  }

  Part part_;
  std::string name_;
  size_t entry_size_ = 0;
};

// A rate limit service, which keeps the rates and counts.
struct RateService {
  std::string host;  // a name or an IP address
  uint16_t port = 0;
  std::string domain;
  absl::Duration lease = absl::Milliseconds(100);

  friend std::partial_ordering operator<=>(const RateService&, const RateService&) = default;
};

// How a limit is shared by all sidecars with the same store, or rate limit service.
struct SharedRate {
  std::string name;   // by which the sidecars know the limit: that of its policy and its own
  std::string store;  // its name in the configuration; empty with `service`
  std::optional<RateService> service;
  absl::Duration timeout = absl::Milliseconds(50);  // of the store: how long a call waits for it
  StoreAway away = StoreAway::kLast;                // of a service never kLast
  absl::Duration grace = absl::Seconds(60);

  friend std::partial_ordering operator<=>(const SharedRate&, const SharedRate&) = default;
};

struct RateLimitPolicy {
  std::string name;
  // Above zero, at most 10^9. That of a rate limit service is not known, and so the highest.
  double per_second = 1;
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

  // Only if a service keeps it.
  ServiceRule service_rule() const {
    return {.lease = shared->service->lease, .admits_when_away = shared->away == StoreAway::kAllow};
  }

  friend std::partial_ordering operator<=>(const RateLimitPolicy&,
                                           const RateLimitPolicy&) = default;
};

}  // namespace levee
