// SPDX-License-Identifier: Apache-2.0
// Sidecars behind sidecars: retries must not multiply.
#include <cmath>
#include <initializer_list>

#include "call/call_fixture.h"
#include "sim/workload.h"

namespace levee {
namespace {

// Three services in a row, each calling the next through its own sidecar; the last calls what is
// dead. 1000 calls enter at the top.
class CallLayers : public testing::Test {
 protected:
  CallLayers() {
    for (CallPolicy* policy : {&top_, &middle_, &bottom_}) policy->retry.max_attempts = 3;
  }

  void SetBudgets(std::initializer_list<CallPolicy*> policies, const RetryBudgetPolicy& budget) {
    for (CallPolicy* policy : policies) policy->retry.budget = budget;
  }

  int64_t AttemptsAtTheBottom(double per_second) {
    SimClock clock;
    SimSidecar bottom(clock, bottom_, 1), middle(clock, middle_, 2), top(clock, top_, 3);
    bottom.overload = middle.overload = top.overload = overload_;
    bottom.AddEndpoint(InTurn({TrailersOnly(StatusCode::kUnavailable)}));
    middle.AddEndpoint(Through(bottom, handler_));
    top.AddEndpoint(Through(middle, handler_));
    RunWorkload(top, {.per_second = per_second, .calls = 1000});
    EXPECT_EQ(top.tally().ok, 0);
    return bottom.tally().attempts;
  }

  void ExpectBounded() {
    // While all fails, the floor counts until five retries of a layer have failed.
    const double floors = 5 * 1.1 * 1.1 + 5 * 1.1 + 5;
    for (double per_second : {1.0, 10.0, 100.0}) {
      EXPECT_LE(AttemptsAtTheBottom(per_second), std::floor(1000 * 1.1 * 1.1 * 1.1 + floors))
          << per_second << " calls a second";
    }
  }

  CallPolicy top_, middle_, bottom_;
  OverloadPolicy overload_;
  Handler handler_;
};

const RetryBudgetPolicy kUnlimited = {.floor_per_second = 1'000'000,
                                      .floor_min_success = 0,
                                      .burst_least = 1'000'000,
                                      .wait = absl::ZeroDuration()};
constexpr RetryBudgetPolicy kNone = {.ratio = 0, .floor_per_second = 0};
constexpr HonoredSignals kNoSignals = {.levee = false, .error_info = false, .pushback = false};

TEST_F(CallLayers, A64_PlainRetriesOfThreeLayersMultiplyTo27) {
  SetBudgets({&top_, &middle_, &bottom_}, kUnlimited);
  overload_.honor = kNoSignals;
  EXPECT_EQ(AttemptsAtTheBottom(10), 27'000);
}

TEST_F(CallLayers, A64_ThreeLayersStayBelowTheProductOfTheirBudgets) { ExpectBounded(); }

TEST_F(CallLayers, A64_ThreeLayersThatHonourNoMarkStayBelowTheProductOfTheirBudgets) {
  overload_.honor = kNoSignals;
  ExpectBounded();
}

// The bound must not need the mark: here not even the agreed code, which no policy lists, shows.
// Nor must it need the credit.
TEST_F(CallLayers, A64_TheBudgetsAloneHoldTheBound) {
  overload_.honor = kNoSignals;
  for (CallPolicy* policy : {&top_, &middle_, &bottom_}) {
    policy->retry.exhausted = ExhaustedMode::kKeep;
    policy->retry.budget.burst_least = 1'000'000;
    policy->retry.budget.wait = absl::ZeroDuration();
  }
  ExpectBounded();
  EXPECT_GE(AttemptsAtTheBottom(100), 1300);
}

TEST_F(CallLayers, A64_ApplicationsThatDropTrailersChangeNothingInTheBound) {
  handler_.passes_trailers = false;
  ExpectBounded();
}

TEST_F(CallLayers, A64_AMarkFromBelowStopsLayersThatHaveBudgetLeft) {
  SetBudgets({&top_, &middle_}, kUnlimited);
  SetBudgets({&bottom_}, kNone);
  EXPECT_EQ(AttemptsAtTheBottom(10), 1000);
}

TEST_F(CallLayers, A64_TheAgreedCodeAloneStopsLayersThatDoNotListIt) {
  SetBudgets({&top_, &middle_}, kUnlimited);
  SetBudgets({&bottom_}, kNone);
  handler_.passes_trailers = false;
  EXPECT_EQ(AttemptsAtTheBottom(10), 1000);
}

}  // namespace
}  // namespace levee
