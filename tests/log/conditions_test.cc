// SPDX-License-Identifier: Apache-2.0
// A condition is told once when it begins and once when it ends, on virtual time.
#include "log/conditions.h"

#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "log/event_log.h"
#include "log/event_text.h"

namespace levee {
namespace {

using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

class ConditionsTest : public testing::Test {
 protected:
  static Instant At(double seconds) { return Instant::FromNanos(0) + absl::Seconds(seconds); }

  void Unreachable(Condition& condition, double seconds, const std::string& endpoint = "a:1") {
    condition.Report(log_, "cart", endpoint, "connection refused", At(seconds));
  }

  std::vector<std::string> Lines() { return std::exchange(lines_, {}); }

  std::vector<std::string> lines_;
  EventLog log_{LogLevel::kInfo,
                [this](const LogEvent& event) { lines_.push_back(EventText(event)); }};
  Condition one_{ConditionKind::kUnreachable};
  Condition other_{ConditionKind::kUnreachable};
};

TEST_F(ConditionsTest, IsToldOnceHoweverOftenItIsReported) {
  for (int second = 0; second < 100; ++second) Unreachable(one_, second);
  EXPECT_THAT(Lines(), ElementsAre("endpoint_unreachable: an endpoint is unreachable "
                                   "upstream=cart endpoint=a:1 reason=\"connection refused\""));
  one_.End(At(100));
  EXPECT_THAT(Lines(), ElementsAre("endpoint_reachable: an endpoint is reachable again "
                                   "upstream=cart endpoint=a:1 seconds=100"));
  one_.End(At(101));
  EXPECT_THAT(Lines(), IsEmpty());
}

TEST_F(ConditionsTest, OfSeveralWorkersBeginsWithTheFirstAndEndsWithTheLast) {
  Unreachable(one_, 0);
  Unreachable(other_, 1);
  EXPECT_THAT(Lines(), SizeIs(1));
  one_.End(At(5));
  EXPECT_THAT(Lines(), IsEmpty());
  other_.End(At(7));
  EXPECT_THAT(Lines(), ElementsAre(EndsWith(" seconds=7")));
}

TEST_F(ConditionsTest, WhatIsGoneEndsWithoutAWord) {
  auto condition = std::make_unique<Condition>(ConditionKind::kUnreachable);
  Unreachable(*condition, 0);
  Lines();
  condition.reset();
  EXPECT_THAT(Lines(), IsEmpty());
  Unreachable(one_, 1);
  EXPECT_THAT(Lines(), SizeIs(1));
}

TEST_F(ConditionsTest, OfAStoreHasItsNameAndHowLongItWasAway) {
  Condition away(ConditionKind::kStoreAway);
  away.Report(log_, "shared", "", "connection refused", At(0));
  EXPECT_THAT(Lines(), ElementsAre("store_away: a store is unreachable store=shared "
                                   "reason=\"connection refused\""));
  away.End(At(12));
  EXPECT_THAT(Lines(),
              ElementsAre("store_back: a store is reachable again store=shared seconds=12"));
}

TEST_F(ConditionsTest, OneEndpointIsNotAnother) {
  Unreachable(one_, 0, "a:1");
  Unreachable(other_, 0, "b:1");
  EXPECT_THAT(Lines(), SizeIs(2));
  one_.End(At(1));
  EXPECT_THAT(Lines(), ElementsAre(HasSubstr("endpoint=a:1")));
}

TEST_F(ConditionsTest, ManyAtOnceAreHeldBackAndCounted) {
  std::vector<std::unique_ptr<Condition>> many;
  for (int i = 0; i < 1000; ++i) {
    many.push_back(std::make_unique<Condition>(ConditionKind::kUnreachable));
    Unreachable(*many.back(), 0, "e" + std::to_string(i));
  }
  EXPECT_THAT(Lines(), SizeIs(Conditions::kAtOnce));
  // They are told of when they are reported again and there is room; the count comes with it.
  Unreachable(*many[500], 6, "e500");
  EXPECT_THAT(Lines(), ElementsAre(AllOf(HasSubstr("endpoint=e500"), EndsWith("suppressed=990"))));
  Unreachable(*many[501], 12, "e501");
  EXPECT_THAT(Lines(), ElementsAre(EndsWith("reason=\"connection refused\"")));
  // The end of one that nobody was told of says nothing.
  many[999]->End(At(13));
  EXPECT_THAT(Lines(), IsEmpty());
  many[0]->End(At(13));
  EXPECT_THAT(Lines(), SizeIs(1));
}

TEST_F(ConditionsTest, AnEndpointThatComesAndGoesIsHeldBackAsWell) {
  int lines = 0;
  for (int i = 0; i < 600; ++i) {
    Unreachable(one_, i * 0.1);
    one_.End(At(i * 0.1 + 0.05));
    lines += static_cast<int>(Lines().size());
  }
  // Of the beginnings ten at once and nine in the minute, and as many ends.
  EXPECT_EQ(lines, 2 * (10 + 9));
}

TEST_F(ConditionsTest, KindsDoNotTakeEachOthersPlaces) {
  for (int i = 0; i < 100; ++i) {
    Unreachable(one_, 0);
    one_.End(At(0));
  }
  Lines();
  Condition ejected(ConditionKind::kEjected);
  ejected.Report(log_, "cart", "a:1", "", At(0));
  EXPECT_THAT(Lines(), ElementsAre(HasSubstr("endpoint_ejected: ")));
  Condition budget(ConditionKind::kBudgetExhausted);
  budget.Report(log_, "cart", "", "", At(0));
  EXPECT_THAT(Lines(), ElementsAre("budget_exhausted: the retry budget is used up upstream=cart"));
}

TEST_F(ConditionsTest, TheEndSaysWhatAllWorkersRefused) {
  Condition first(ConditionKind::kGuardRefuses);
  Condition second(ConditionKind::kGuardRefuses);
  first.Report(log_, "cart", "", "", At(0), {{"slots", 4}});
  second.Report(log_, "cart", "", "", At(0), {{"slots", 5}});
  EXPECT_THAT(Lines(),
              ElementsAre("guard_refusing: the guard refuses calls upstream=cart slots=4"));
  first.End(At(8), /*refused=*/3);
  EXPECT_THAT(Lines(), IsEmpty());
  second.End(At(9), /*refused=*/4);
  EXPECT_THAT(Lines(), ElementsAre("guard_calm: the guard has refused nothing for a while "
                                   "upstream=cart seconds=9 refused=7"));
}

TEST_F(ConditionsTest, WhateverThreadsReportEachBeginningThatIsWrittenHasItsEnd) {
  std::vector<std::thread> threads;
  for (int worker = 0; worker < 4; ++worker) {
    threads.emplace_back([this] {
      Condition condition(ConditionKind::kUnreachable);
      for (int i = 0; i < 1000; ++i) {
        Unreachable(condition, i);
        condition.End(At(i));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  ASSERT_GT(lines_.size(), 2u * Conditions::kAtOnce);
  for (size_t i = 0; i < lines_.size(); ++i) {
    EXPECT_THAT(lines_[i], HasSubstr(i % 2 == 0 ? "endpoint_unreachable" : "endpoint_reachable"));
  }
  EXPECT_EQ(lines_.size() % 2, 0u);
}

TEST_F(ConditionsTest, NothingIsKeptBelowTheLevel) {
  EventLog quiet(LogLevel::kError, [](const LogEvent&) { FAIL(); });
  one_.Report(quiet, "cart", "a:1", "", At(0));
  one_.End(At(1));
}

}  // namespace
}  // namespace levee
