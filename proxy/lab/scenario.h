// SPDX-License-Identifier: Apache-2.0
// A scenario as plain values: who calls whom, how fast the services are, and what goes wrong.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "lab/caller_rule.h"
#include "settings/snapshot.h"
#include "wire/status.h"

namespace levee {

// A call that a client or a service makes, with the policy of its sidecar for it. Without a sidecar
// the policy retries nothing and refuses nothing.
struct ScenarioCall {
  int service = 0;  // its index
  std::string method;
  std::string peer;  // the caller's name by its certificate; empty: it shows none
  std::vector<std::pair<std::string, std::string>> headers;  // names in lower case
  std::shared_ptr<const Snapshot> sidecar;  // owns the policies; nullptr: there is none
  const CallPolicy* policy = nullptr;
  absl::Duration timeout = absl::InfiniteDuration();  // of its route, beside the policy's
  const CallPolicy* shadow = nullptr;                 // decides beside `policy`; nullptr: none does
  bool idempotent = false;                            // the method is described as idempotent
  std::optional<CallKind> described;                  // what its descriptor says it is
  absl::Duration connect_wait = absl::ZeroDuration();  // of the upstream
  // What the sidecar before the service takes it in by; nullptr: there is none.
  std::shared_ptr<const Snapshot> inbound;  // owns `inbound_policy`
  const CallPolicy* inbound_policy = nullptr;
  std::optional<CallKind> inbound_described;  // what its descriptor says the method is
};

struct ScenarioStep {
  absl::Duration at;
  absl::Duration span;
  double per_second = 0;
};

struct ScenarioClient {
  std::string name;
  int instances = 1;
  ScenarioCall call;
  bool poisson = true;    // else the gaps are equal
  double per_second = 1;  // of all instances together, where no step holds
  std::vector<ScenarioStep> steps;
  absl::Duration deadline = absl::InfiniteDuration();
  int retries = 0;  // of its own

  // Returns the rate at `at`.
  double RateAt(absl::Duration at) const;
};

struct WorkTime {
  enum class Kind { kFixed, kExponential, kLognormal };
  Kind kind = Kind::kFixed;
  absl::Duration scale;  // the fixed time, the mean, or the median
  double sigma = 0;      // of the logarithm
};

struct ScenarioService {
  static constexpr int64_t kNoBound = std::numeric_limits<int64_t>::max();

  std::string name;
  int instances = 1;
  int slots = 1;  // of each
  WorkTime time;
  absl::Duration slope;          // the time grows by this with each other call at work
  int64_t queue = kNoBound;      // of each
  bool drops_abandoned = false;  // else work goes on for callers that have gone
  absl::Duration time_limit = absl::InfiniteDuration();  // of a call's wait and own work
  std::vector<ScenarioCall> calls;
  int retries = 0;  // of its own, of each of these
};

struct ScenarioFault {
  absl::Duration at;
  absl::Duration span;
  int service = 0;
  std::optional<int> instance;  // none: all of them
  double capacity = 1;
  double fail_share = 0;
  StatusCode fail_code = StatusCode::kUnavailable;
  bool fails_after_work = false;
  absl::Duration delay;
  bool refuse = false;
  bool blackhole = false;
  bool restart = false;
};

enum class ScenarioFigure { kAmplification, kRecovery, kSuccess, kGoodput, kP50, kP99 };

struct ScenarioExpectation {
  enum class Relation { kLess, kAtMost, kAtLeast, kMore };
  std::string text;  // "amplification <= 1.1 of bank"
  ScenarioFigure figure = ScenarioFigure::kAmplification;
  Relation relation = Relation::kAtMost;
  double bound = 0;  // in seconds, as a share, per second, or a plain number
  int of = -1;       // the index of a service or a client; -1: none is named
  absl::Duration before = absl::InfiniteDuration();

  bool Holds(double value) const;
};

struct Scenario {
  absl::Duration duration;
  std::vector<ScenarioClient> clients;
  std::vector<ScenarioService> services;
  std::vector<ScenarioFault> faults;
  std::vector<ScenarioExpectation> expect;
  std::vector<CallerRule> compare;

  // From the first to the last fault or step; none: there is neither.
  struct Span {
    absl::Duration begin;
    absl::Duration end;
  };
  std::optional<Span> Trouble() const;
};

}  // namespace levee
