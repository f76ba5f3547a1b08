// SPDX-License-Identifier: Apache-2.0
// Calls whose admission is answered later than it is asked for.
#include <string>
#include <utility>
#include <vector>

#include "call/call_fixture.h"
#include "sim/sim_admission.h"

namespace levee {
namespace {

// One call a second, two at once; the answer takes 300 ms.
class CallAdmission : public CallTest {
 protected:
  CallAdmission() {
    policy_.rate_limits = {{.name = "shared", .per_second = 1, .burst = 2}};
    retry_.commit = CommitMode::kHeaders;  // So that a call leaves no timer behind.
    sidecar_.admission = &admission_;
    Upstream({Ok()});
  }

  // Nothing waits, and only so many calls have cost a permit.
  void ExpectCharged(int64_t calls) {
    EXPECT_EQ(admission_.waiting(), 0u);
    EXPECT_EQ(admission_.charged(), calls);
    EXPECT_EQ(sidecar_.budget().Read(clock_.now()).calls, calls);
  }

  absl::Duration delay_ = Ms(300);
  SimAdmission admission_{clock_, [this] { return delay_; }};
};

TEST_F(CallAdmission, ACallGoesOnWithTheTimeThatItsAnswerHasLeft) {
  SimHost& call = RunUnary({.timeout = Ms(1000)});
  EXPECT_EQ(call.caller().code, StatusCode::kOk);
  ASSERT_EQ(call.attempts(), 1);
  EXPECT_EQ(call.attempt(1).start, Ms(300));
  EXPECT_EQ(call.attempt(1).timeout, Ms(700));
  EXPECT_EQ(call.attempt(1).received, "ping");
  EXPECT_TRUE(call.record().rate_limit.checked);
  ExpectCharged(1);
}

TEST_F(CallAdmission, AnAnswerAtOnceStartsTheAttemptAtOnce) {
  delay_ = Ms(0);
  EXPECT_EQ(sidecar_.Unary().attempts(), 1);
  clock_.Run();
  ExpectCharged(1);
}

TEST_F(CallAdmission, WhatTheCallerSendsWhileItWaitsIsSentWhole) {
  SimHost& call = sidecar_.NewCall();
  call.Send("one ");
  clock_.RunFor(Ms(100));
  call.Send("two ");
  call.HalfClose();
  EXPECT_EQ(call.caller().credited, 8u);
  clock_.Run();
  EXPECT_EQ(call.attempt(1).received, "one two ");
  EXPECT_TRUE(call.attempt(1).half_closed);
  EXPECT_EQ(call.caller().code, StatusCode::kOk);
}

TEST_F(CallAdmission, BytesBeyondTheBufferReturnNoWindowUntilTheyAreForwarded) {
  retry_.buffer_bytes = 4;
  SimHost& call = sidecar_.NewCall();
  call.Send("one ");
  call.Send("two", /*end=*/true);
  clock_.RunFor(Ms(200));
  EXPECT_EQ(call.caller().credited, 4u);
  clock_.Run();
  EXPECT_EQ(call.attempt(1).received, "one two");
  EXPECT_EQ(call.caller().credited, 7u);
  EXPECT_EQ(sidecar_.replay().used(), 0);
}

TEST_F(CallAdmission, ACallerThatLeavesWhileItWaitsIsChargedNothing) {
  SimHost& call = sidecar_.Unary();
  clock_.RunFor(Ms(100));
  call.Leave();
  clock_.Run();
  EXPECT_EQ(call.caller().code, StatusCode::kCancelled);
  EXPECT_EQ(call.attempts(), 0);
  EXPECT_FALSE(call.record().rate_limit.checked);
  ExpectCharged(0);
  RunUnary();
  EXPECT_EQ(RunUnary().caller().code, StatusCode::kOk);  // The whole burst is there.
}

TEST_F(CallAdmission, ADeadlineThatPassesWhileItWaitsEndsTheCall) {
  delay_ = absl::InfiniteDuration();
  SimHost& call = RunUnary({.timeout = Ms(500)});
  EXPECT_EQ(call.caller().code, StatusCode::kDeadlineExceeded);
  EXPECT_EQ(call.caller().message, "deadline exceeded before a rate limit admitted the call");
  EXPECT_EQ(call.caller().finished_at, Ms(500));
  EXPECT_EQ(call.attempts(), 0);
  ExpectCharged(0);
}

TEST_F(CallAdmission, AnAnswerAtTheDeadlineIsTooLate) {
  policy_.rate_limits.clear();
  SimHost& call = RunUnary({.timeout = Ms(300)});
  EXPECT_EQ(call.caller().code, StatusCode::kDeadlineExceeded);
  EXPECT_EQ(call.attempts(), 0);
  ExpectCharged(0);
}

TEST_F(CallAdmission, ARefusalThatComesLaterSaysWhyAndWhenToTryAgain) {
  for (int i = 0; i < 2; ++i) sidecar_.Unary();
  SimHost& call = RunUnary();
  EXPECT_EQ(call.caller().finished_at, Ms(300));
  EXPECT_EQ(call.caller().code, StatusCode::kResourceExhausted);
  EXPECT_EQ(call.caller().message, "rate limit \"shared\" of policy \"section-a\" reached");
  EXPECT_EQ(call.caller().pushback, Ms(1000));
  EXPECT_EQ(call.attempts(), 0);
  EXPECT_EQ(call.record().rate_limit.refused_by, 0);
  ExpectCharged(2);
}

TEST_F(CallAdmission, AnAnswerCanMakeTheCallWaitForItsPermit) {
  policy_.rate_limits[0].max_wait = absl::Seconds(10);
  for (int i = 0; i < 2; ++i) sidecar_.Unary();
  SimHost& call = RunUnary({.timeout = Ms(5000)});
  EXPECT_EQ(call.caller().code, StatusCode::kOk);
  EXPECT_EQ(call.attempt(1).start, Ms(1300));
  EXPECT_EQ(call.attempt(1).timeout, Ms(3700));
  EXPECT_EQ(call.record().rate_limit.delayed_by, 0);
  ExpectCharged(3);
}

TEST_F(CallAdmission, ACallerThatLeavesBeforeItsPermitIsDueReturnsIt) {
  policy_.rate_limits[0].max_wait = absl::Seconds(10);
  for (int i = 0; i < 2; ++i) sidecar_.Unary();
  SimHost& call = sidecar_.Unary();
  clock_.RunFor(Ms(500));
  EXPECT_EQ(admission_.charged(), 3);
  call.Leave();
  clock_.Run();
  EXPECT_EQ(call.attempts(), 0);
  ExpectCharged(2);
}

TEST_F(CallAdmission, ADrainThatCannotWaitEndsACallThatWaits) {
  SimHost& call = sidecar_.Unary();
  clock_.RunFor(Ms(100));
  call.DrainTimeout();
  EXPECT_EQ(call.caller().code, StatusCode::kUnavailable);
  EXPECT_EQ(call.record().refused, std::nullopt);
  clock_.Run();
  EXPECT_EQ(call.attempts(), 0);
  ExpectCharged(0);
}

TEST_F(CallAdmission, AnApplicationsRetryOverBudgetReturnsItsPermit) {
  retry_.budget = {.ratio = 0, .floor_per_second = 0};
  SimHost& call = RunUnary({.previous_attempts = 1});
  EXPECT_EQ(call.record().refused, RefusalReason::kBudget);
  EXPECT_EQ(call.attempts(), 0);
  ExpectCharged(0);
}

TEST_F(CallAdmission, AnApplicationsRetryThatIsRefusedLaterIsNotChargedToTheBudget) {
  for (int i = 0; i < 2; ++i) sidecar_.Unary();
  SimHost& call = RunUnary({.previous_attempts = 1});
  EXPECT_EQ(call.record().rate_limit.refused_by, 0);
  EXPECT_EQ(sidecar_.budget().Read(clock_.now()).retries, 0);
}

// Keeps the entries of each key that it is asked with, as a rate limit service is sent them.
class DescriptorSource final : public AdmissionSource {
 public:
  std::optional<RateAdmission> Ask(Call&, const AdmissionQuestion& question, Instant) override {
    for (const LimitKey& key : question.keys) {
      auto& descriptor = descriptors.emplace_back();
      for (const auto& [name, value] : key.entries()) descriptor.emplace_back(name, value);
    }
    return RateAdmission();
  }
  void Withdraw(Call&) override {}

  std::vector<std::vector<std::pair<std::string, std::string>>> descriptors;
};

TEST_F(CallAdmission, TheQuestionHoldsTheEntriesOfEachLimitsKey) {
  DescriptorSource source;
  sidecar_.admission = &source;
  policy_.rate_limits.push_back({.name = "all", .per_second = 1});
  LimitKey keys[2];
  keys[0].Add("method", "/shop.Cart/Add");
  keys[0].Add("header:x-tenant", "blue");
  EXPECT_EQ(RunUnary({.rate_keys = keys}).caller().code, StatusCode::kOk);
  ASSERT_EQ(source.descriptors.size(), 2u);
  EXPECT_EQ(source.descriptors[0], (std::vector<std::pair<std::string, std::string>>{
                                       {"method", "/shop.Cart/Add"}, {"header:x-tenant", "blue"}}));
  EXPECT_TRUE(source.descriptors[1].empty());
}

}  // namespace
}  // namespace levee
