// SPDX-License-Identifier: Apache-2.0
// The numbers behind a verdict, and the clause that tells of each of them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include "insight/history.h"
#include "insight/verdict.h"

namespace levee {

// A share of failures below one in a hundred is the noise of any network: deploys, idle connections
// that close. The sentence shows such failures, but they alarm nobody.
inline constexpr double kNoise = 0.01;

// An application that retries by itself retries the calls that fail. A tenth of the calls is far
// above noise, and more than Levee's own retries may be.
inline constexpr double kMuch = 0.1;

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
  kApp,
  kEndpoints
};

// A view: what it is made from outlives it. The arguments are those of Judge.
class VerdictFacts {
 public:
  VerdictFacts(const HistorySample& last, int seconds, int seconds_empty,
               const EndpointCounts& endpoints)
      : last_(last),
        added_(last.added),
        seconds_(seconds),
        seconds_empty_(seconds_empty),
        endpoints_(endpoints) {}

  // A clause without end mark; empty if there is nothing to say of it.
  std::string Say(Fact fact) const;

  // "12 calls/s", and "99.96% OK" of those that callers did not cancel.
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
  int bad_endpoints() const { return endpoints_.failing + endpoints_.ejected; }
  bool all_endpoints_bad() const { return endpoints_.all > 0 && bad_endpoints() >= endpoints_.all; }
  bool upstream_fails() const {
    return Share(failed_attempts(), added_.attempts_judged()) >= kNoise;
  }
  bool callers_fail() const { return Share(failed_calls(), added_.calls_judged()) >= kNoise; }
  bool budget_allows_none() const { return last_.budget.limit <= 0 && last_.budget.ratio <= 0; }

  // Retries keep from callers that the upstream fails.
  bool hidden() const { return added_.retries > 0 && upstream_fails() && !callers_fail(); }

  // Callers see more failures than the default budget hides.
  bool suffering() const;

 private:
  // Counters that are read one after the other may differ by the calls of that moment.
  static uint64_t Above(uint64_t whole, uint64_t part) { return whole - std::min(whole, part); }

  std::string SayHealth() const;
  std::string SayCancelled() const;
  std::string SayAmplification() const;
  std::string SayBudget() const;
  std::string SayRefusals() const;
  std::string SayLimit() const;
  std::string SayApp() const;
  std::string SayEndpoints() const;

  const HistorySample& last_;
  const UpstreamTotals& added_;
  const int seconds_;
  const int seconds_empty_;
  const EndpointCounts& endpoints_;
};

}  // namespace levee
