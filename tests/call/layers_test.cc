// Sidecars behind sidecars: retries must not multiply.
#include <cmath>

#include "call/call_fixture.h"
#include "sim_host/workload.h"

namespace levee {
namespace {

// Three services in a row, each calling the next through its own sidecar; the last calls what is
// dead. 1000 calls enter at the top.
class CallLayers : public testing::Test {
 protected:
  explicit CallLayers() {
    policy_.retry.max_attempts = 3;
    policy_.retry.backoff.initial = Ms(25);
  }

  int64_t AttemptsAtTheBottom(double per_second) {
    SimClock clock;
    SimSidecar bottom(clock, policy_, 1), middle(clock, policy_, 2), top(clock, policy_, 3);
    bottom.overload = middle.overload = top.overload = overload_;
    bottom.AddEndpoint(InTurn({TrailersOnly(StatusCode::kUnavailable)}));
    middle.AddEndpoint(Through(bottom, handler_));
    top.AddEndpoint(Through(middle, handler_));
    RunWorkload(top, {.per_second = per_second, .calls = 1000});
    EXPECT_EQ(TallyOf(top).ok, 0);
    return bottom.attempts();
  }

  void ExpectBounded() {
    for (double per_second : {1.0, 10.0, 100.0}) {
      // While all fails the floor counts until five retries have failed, once in each layer.
      const double floors = 3 * 5 * 1.1 * 1.1;
      EXPECT_LE(AttemptsAtTheBottom(per_second), std::floor(1000 * 1.1 * 1.1 * 1.1 + floors))
          << per_second << " calls a second";
    }
  }

  CallPolicy policy_;
  OverloadPolicy overload_;
  Handler handler_;
};

TEST_F(CallLayers, A64_PlainRetriesOfThreeLayersMultiplyTo27) {
  policy_.retry.budget.floor_per_second = 1'000'000;
  policy_.retry.budget.floor_min_success = 0;
  policy_.retry.exhausted = ExhaustedMode::kKeep;
  EXPECT_EQ(AttemptsAtTheBottom(10), 27'000);
}

TEST_F(CallLayers, A64_ThreeLayersStayBelowTheProductOfTheirBudgets) { ExpectBounded(); }

TEST_F(CallLayers, A64_ThreeLayersThatHonourNoMarkStayBelowTheProductOfTheirBudgets) {
  overload_.honor = {.levee = false, .error_info = false, .pushback = false, .envoy = false};
  ExpectBounded();
}

TEST_F(CallLayers, A64_ApplicationsThatDropTrailersChangeNothingInTheBound) {
  handler_.passes_trailers = false;
  ExpectBounded();
}

TEST_F(CallLayers, A64_AMarkStopsTheRetriesOfTheLayersAbove) {
  policy_.retry.budget.floor_per_second = 0;
  policy_.retry.budget.ratio = 0;
  EXPECT_EQ(AttemptsAtTheBottom(10), 1000);
}

}  // namespace
}  // namespace levee
