// SPDX-License-Identifier: Apache-2.0
// When operators are told of a retry budget, on virtual time.
#include "server/refusal_watch.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "log/event_text.h"

namespace levee {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::EndsWith;
using testing::IsEmpty;
using testing::StartsWith;

class RefusalWatchTest : public testing::Test {
 protected:
  RefusalWatchTest() { destination_.upstream = "cart"; }

  // Time passes.
  std::vector<std::string> After(absl::Duration span) {
    io_.wheel.Advance(start_ + span);
    return std::exchange(lines_, {});
  }

  std::vector<std::string> lines_;
  EventLog log_{LogLevel::kInfo,
                [this](const LogEvent& event) { lines_.push_back(EventText(event)); }};
  net::EventLoop loop_;
  WorkerSeries series_;
  WorkerIo io_{loop_, series_, log_};
  const Instant start_ = loop_.now();
  const std::shared_ptr<RetryBudget> budget_ =
      std::make_shared<RetryBudget>(RetryBudgetPolicy(), /*workers=*/1);
  FailedCallsRoom room_;
  Destination destination_{room_};
  RefusalWatch watch_{io_};
};

TEST_F(RefusalWatchTest, ABudgetThatRefusesIsToldOfOnceAndItsRecoveryOnce) {
  for (int i = 0; i < 1000; ++i) watch_.OnRefused(budget_, destination_);
  EXPECT_THAT(After(absl::Seconds(9)),
              ElementsAre("budget_exhausted: the retry budget is used up upstream=cart"));
  EXPECT_THAT(After(absl::Seconds(12)), ElementsAre(StartsWith("budget_recovered: ")));
  EXPECT_THAT(After(absl::Seconds(60)), IsEmpty());
  EXPECT_TRUE(io_.wheel.NextWakeup().is_infinite());
}

TEST_F(RefusalWatchTest, BudgetsOfSeveralAuthoritiesAreToldApart) {
  const auto other = std::make_shared<RetryBudget>(RetryBudgetPolicy(), /*workers=*/1);
  watch_.OnRefused(budget_, destination_);
  destination_.authority = "cart.shop:80";
  watch_.OnRefused(other, destination_);
  EXPECT_THAT(After(absl::Seconds(1)),
              ElementsAre("budget_exhausted: the retry budget is used up upstream=cart",
                          "budget_exhausted: the retry budget is used up upstream=cart "
                          "authority=cart.shop:80"));
}

TEST_F(RefusalWatchTest, AGuardThatRefusesIsToldOfOnceAndItsCalmWithWhatItRefused) {
  GuardPolicy policy;
  policy.concurrency = {.kind = ConcurrencyPolicy::Kind::kFixed, .fixed = 4};
  const auto line = std::make_shared<GuardLine>(std::make_shared<Guard>(policy, /*workers=*/1),
                                                /*worker=*/0, [](Instant) {});
  for (int i = 0; i < 1000; ++i) watch_.OnRefused(line, destination_);
  EXPECT_THAT(After(absl::Seconds(9)),
              ElementsAre("guard_refusing: the guard refuses calls upstream=cart slots=4 "
                          "in_flight=0 waiting=0"));
  EXPECT_THAT(After(absl::Seconds(12)),
              ElementsAre(AllOf(StartsWith("guard_calm: the guard has refused nothing for a while "
                                           "upstream=cart seconds="),
                                EndsWith(" refused=1000"))));
  EXPECT_THAT(After(absl::Seconds(60)), IsEmpty());
}

TEST_F(RefusalWatchTest, OfAGuardThatOnlyObservesNothingIsTold) {
  const auto line = std::make_shared<GuardLine>(
      std::make_shared<Guard>(GuardPolicy{.observe = true}, /*workers=*/1), /*worker=*/0,
      [](Instant) {});
  watch_.OnRefused(line, destination_);
  EXPECT_THAT(After(absl::Seconds(60)), IsEmpty());
  EXPECT_TRUE(io_.wheel.NextWakeup().is_infinite());
}

}  // namespace
}  // namespace levee
