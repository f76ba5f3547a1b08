// SPDX-License-Identifier: Apache-2.0
// The numbers behind a verdict, and the clause that states each of them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include "insight/history.h"
#include "insight/verdict.h"

namespace levee {

// A share of failures below one in a hundred is normal in any network: services are deployed, idle
// connections are closed. The sentence shows such failures, but they raise no alarm.
inline constexpr double kNoise = 0.01;

// An application's own retries are many from a tenth of the calls on. That is far above the normal
// share of failures, and more than Levee's own retries may be.
inline constexpr double kMuch = 0.1;

// One or two events are no alarm, whatever their share is.
inline constexpr uint64_t kSome = 3;

// The share of `part` in `whole`; 0 if `whole` is 0.
double Share(uint64_t part, uint64_t whole);

// The facts that a verdict can tell of.
enum class Fact {
  kHealth,
  kCancelled,
  kAmplification,
  kBudget,
  kRefusals,
  kMarks,
  kLimit,
  kThrottle,
  kGuard,
  kGuardScope,
  kApp,
  kEndpoints
};

// A view of the arguments of Judge, which must outlive it. Above 30 functions: nearly each is one
// fact in one line.
class VerdictFacts {
 public:
  VerdictFacts(const HistorySample& last, int seconds, int seconds_empty,
               const EndpointCounts& endpoints)
      : last_(last),
        added_(last.added),
        seconds_(seconds),
        seconds_empty_(seconds_empty),
        endpoints_(endpoints) {}

  // Returns a clause without end mark; empty if there is nothing to say of the fact.
  std::string Say(Fact fact) const;

  // Return "12 calls/s", and "99.96% OK" as the share of the calls that were not cancelled.
  std::string SayRate() const;
  std::string SayCallersOk() const;

  const UpstreamTotals& added() const { return added_; }
  const EndpointCounts& endpoints() const { return endpoints_; }

  uint64_t failed_calls() const { return Above(added_.calls_judged(), added_.calls_ok); }
  uint64_t failed_attempts() const { return Above(added_.attempts_judged(), added_.attempts_ok); }
  uint64_t app_retries() const { return added_.app_retries_admitted + added_.app_retries_refused; }
  uint64_t Refused(RefusalReason reason) const {
    return added_.refused[static_cast<size_t>(reason)];
  }
  uint64_t GuardRefused(GuardReason reason) const {
    return added_.guard_refused[static_cast<size_t>(reason)];
  }
  // Calls that the guard refused, or would have refused if it only observes.
  uint64_t guard_refused() const {
    return GuardRefused(GuardReason::kConcurrency) + GuardRefused(GuardReason::kQueue);
  }
  bool guard_acts() const { return last_.guard.has_value() && !last_.guard->observes; }
  int bad_endpoints() const { return endpoints_.failing + endpoints_.ejected; }
  bool all_endpoints_bad() const { return endpoints_.all > 0 && bad_endpoints() >= endpoints_.all; }
  bool upstream_fails() const {
    return Share(failed_attempts(), added_.attempts_judged()) >= kNoise;
  }
  bool callers_fail() const { return Share(failed_calls(), added_.calls_judged()) >= kNoise; }
  bool budget_allows_none() const { return last_.budget.limit <= 0 && last_.budget.ratio <= 0; }

  // Whether the upstream fails and callers do not see it, because of retries.
  bool hidden() const { return added_.retries > 0 && upstream_fails() && !callers_fail(); }

  // Whether callers see more failures than the default budget could hide.
  bool suffering() const;

 private:
  // Returns how much `whole` is above `part`; 0 if it is not. Counters are read one after the
  // other, so a part may be larger than the whole.
  static uint64_t Above(uint64_t whole, uint64_t part) { return whole - std::min(whole, part); }

  std::string SayHealth() const;
  std::string SayCancelled() const;
  std::string SayAmplification() const;
  std::string SayBudget() const;
  std::string SayRefusals() const;
  std::string SayLimit() const;
  std::string SayThrottle() const;
  std::string SayGuard() const;
  std::string SayGuardScope() const;
  std::string SayApp() const;
  std::string SayEndpoints() const;

  const HistorySample& last_;
  const UpstreamTotals& added_;
  const int seconds_;
  const int seconds_empty_;
  const EndpointCounts& endpoints_;
};

}  // namespace levee
