// SPDX-License-Identifier: Apache-2.0
#include "wire/refusal.h"

#include <set>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace levee {
namespace {

using ::testing::ElementsAre;

// The labels are public: dashboards name them.
TEST(Refusal, TriggersHaveTheNamesOfTheMetricLabel) {
  std::vector<std::string> names;
  for (int i = 0; i < kRetryTriggers; ++i) {
    names.emplace_back(RetryTriggerName(static_cast<RetryTrigger>(i)));
  }
  EXPECT_THAT(names,
              ElementsAre("status", "http", "refused", "connect", "reset", "timeout", "hedge"));
  EXPECT_EQ(RetryTriggerName(RetryTrigger::kHedge), "hedge");
}

TEST(Refusal, ReasonsHaveTheNamesOfTheMetricLabel) {
  std::vector<std::string> names;
  for (int i = 0; i < kRefusalReasons; ++i) {
    names.emplace_back(RefusalReasonName(static_cast<RefusalReason>(i)));
  }
  EXPECT_THAT(names, ElementsAre("budget", "max_attempts", "deadline", "committed", "buffer",
                                 "pushback", "overload_mark", "not_idempotent", "max_elapsed",
                                 "advice", "draining", "observe", "throttle"));
  EXPECT_EQ(RefusalReasonName(RefusalReason::kObserve), "observe");
}

TEST(Refusal, EveryReasonHasAPhraseOfItsOwn) {
  std::set<std::string> phrases;
  for (int i = 0; i < kRefusalReasons; ++i) {
    phrases.emplace(RefusalReasonPhrase(static_cast<RefusalReason>(i)));
  }
  EXPECT_EQ(phrases.size(), static_cast<size_t>(kRefusalReasons));
  EXPECT_EQ(phrases.count(""), 0u);
  EXPECT_EQ(RefusalReasonPhrase(RefusalReason::kBudget), "budget used up");
}

}  // namespace
}  // namespace levee
