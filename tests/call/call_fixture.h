// SPDX-License-Identifier: Apache-2.0
// The setting of conformance section A.
#pragma once

#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "call/call_invariants.h"
#include "gtest/gtest.h"
#include "sim/answer.h"
#include "sim/services.h"
#include "sim/sim_clock.h"
#include "sim/sim_host.h"
#include "sim/sim_sidecar.h"
#include "storms/seeds.h"
#include "wire/refusal.h"
#include "wire/status.h"

namespace levee {

// Prints these for GoogleTest's failures.
inline void PrintTo(StatusCode code, std::ostream* out) { *out << StatusCodeName(code); }
inline void PrintTo(RefusalReason reason, std::ostream* out) { *out << RefusalReasonName(reason); }
inline void PrintTo(RetryTrigger trigger, std::ostream* out) { *out << RetryTriggerName(trigger); }

inline constexpr absl::Duration Ms(int64_t n) { return absl::Milliseconds(n); }

// A request's message comes in its frame.
inline const std::string kMessage("\0\0\0\0\4ping", 9);

// The upstream refuses the stream, so the attempt has not reached the application.
inline Answer RefusedStream() { return Answer().Reset(Ms(1), kResetRefusedStream); }

// max_attempts 4, 100 ms -> 1 s x2, codes [UNAVAILABLE], all failures, exhausted keep, a large
// budget. Without jitter, so that times can be literal.
inline CallPolicy SectionAPolicy() {
  CallPolicy policy;
  policy.name = "section-a";
  policy.retry.max_attempts = 4;
  policy.retry.codes = {StatusCode::kUnavailable};
  policy.retry.failures = {.refused = true, .connect = true, .reset = true, .timeout = true};
  policy.retry.backoff.initial = Ms(100);
  policy.retry.backoff.multiplier = 2;
  policy.retry.backoff.max = absl::Seconds(1);
  policy.retry.backoff.jitter = Jitter::kNone;
  policy.retry.exhausted = ExhaustedMode::kKeep;
  policy.retry.budget.floor_per_second = 1000;
  policy.retry.budget.floor_min_success = 0;
  policy.retry.budget.burst_least = 1000;
  return policy;
}

// As if the sidecar had had answers of the first method, each after a millisecond.
inline void HasAnswered(SimSidecar& sidecar) {
  for (int i = 0; i < 8; ++i) sidecar.usual_answer(0).Record(Ms(1));
}

// One sidecar at virtual time 0. Tests change `policy` before the first call. Each call of each
// test has to be a stream or unary as its descriptor or its messages say.
class CallTest : public ::testing::Test {
 protected:
  CallTest() {
    sidecar_.KeepCalls();
    sidecar_.described = DescribedKind();
  }
  void TearDown() override { CheckKinds(sidecar_); }

  // One endpoint that answers the attempts of all calls in turn.
  void Upstream(std::vector<Answer> answers) { sidecar_.AddEndpoint(InTurn(std::move(answers))); }

  // A call with its whole request, run to its end.
  SimHost& RunUnary(const RequestFacts& facts = {}) {
    SimHost& call = sidecar_.Unary(facts);
    clock_.Run();
    return call;
  }

  SimClock clock_;
  SimSidecar sidecar_{clock_, SectionAPolicy()};
  CallPolicy& policy_ = sidecar_.policy;
  RetryPolicy& retry_ = policy_.retry;
};

}  // namespace levee
