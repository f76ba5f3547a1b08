// SPDX-License-Identifier: Apache-2.0
// Plain values of `guard` in a policy.
#pragma once

#include <compare>
#include <string>

#include "absl/time/time.h"

namespace levee {

// The priorities of calls: 0 is the dearest.
inline constexpr int kLeastPriority = 127;

// `guard.concurrency` with `limit: adaptive`. The limit stays from `min` to `max`.
struct AdaptiveLimitPolicy {
  int initial = 20;
  int min = 1;  // at least 1
  int max = 1000;
  friend std::partial_ordering operator<=>(const AdaptiveLimitPolicy&,
                                           const AdaptiveLimitPolicy&) = default;
};

// `guard.concurrency`: how many calls the service works on at a time.
struct ConcurrencyPolicy {
  enum class Kind { kAdaptive, kFixed, kNone };
  // Whether a call keeps its slot once it is known to be a stream.
  enum class Streams {
    kAuto,   // no, if the service has shown it, or nothing says that the method is unary
    kCount,  // yes
    kFree,   // no
  };
  Kind kind = Kind::kAdaptive;
  int fixed = 1;                 // of kFixed, at least 1
  AdaptiveLimitPolicy adaptive;  // of kAdaptive
  Streams streams = Streams::kAuto;
  friend std::partial_ordering operator<=>(const ConcurrencyPolicy&,
                                           const ConcurrencyPolicy&) = default;
};

// `guard.queue`.
struct QueuePolicy {
  static constexpr int kAuto = -1;

  int max = kAuto;  // calls; kAuto: eight times the limit; 0: none waits
  absl::Duration target = absl::Milliseconds(5);      // above zero
  absl::Duration interval = absl::Milliseconds(100);  // above zero
  friend std::partial_ordering operator<=>(const QueuePolicy&, const QueuePolicy&) = default;
};

// `guard.scope`: when a refusal is meant for all instances of the service.
struct ScopePolicy {
  double retries = 0.1;  // more than this share of what arrived were retries
  int min_calls = 20;    // with fewer calls in 10 s a refusal is for this instance
  friend std::partial_ordering operator<=>(const ScopePolicy&, const ScopePolicy&) = default;
};

struct GuardPolicy {
  ConcurrencyPolicy concurrency;
  QueuePolicy queue;
  std::string priority_header = "levee-priority";  // in lower case
  int default_priority = 64;                       // 0 to kLeastPriority
  ScopePolicy scope;
  // Every call goes to the service at once, and is counted by what the guard would have done: a
  // call that finds no slot holds a place in the queue beside being served.
  bool observe = false;
  // Every answer tells callers the service's load (gRFC A51).
  bool load_report = false;
  friend std::partial_ordering operator<=>(const GuardPolicy&, const GuardPolicy&) = default;
};

}  // namespace levee
