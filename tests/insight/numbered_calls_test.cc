// SPDX-License-Identifier: Apache-2.0
// With which second a call is told.
#include "insight/numbered_calls.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace levee {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

const Instant kStarted = Instant::FromNanos(5'000'000'000);

TEST(SecondOf, AnInstantOnASecondsEndBelongsToIt) {
  const Instant start = Instant::FromNanos(5'000);
  EXPECT_EQ(SecondOf(start, start), 1);
  EXPECT_EQ(SecondOf(start + absl::Nanoseconds(1), start), 1);
  EXPECT_EQ(SecondOf(start + absl::Seconds(1), start), 1);
  EXPECT_EQ(SecondOf(start + absl::Seconds(1) + absl::Nanoseconds(1), start), 2);
}

class NumberedCallsTest : public testing::Test {
 protected:
  // A call that ended that many seconds after the start.
  void Remember(double end, const std::string& trace_id = "") {
    RememberedCall& call = remembered_.emplace_back();
    call.record.end = kStarted + absl::Seconds(end);
    call.trace_id = trace_id;
    call.id = ++last_id_;
  }
  void Update(uint32_t second) {
    std::erase_if(remembered_, [&](const auto& call) { return call.id <= calls_.last_id(); });
    calls_.Update(remembered_, second, kStarted);
  }
  std::vector<uint32_t> Numbers(uint32_t since) const {
    std::vector<uint32_t> numbers;
    for (const auto& call : calls_.After(since)) numbers.push_back(call.number);
    return numbers;
  }

  uint64_t last_id_ = 0;
  std::vector<RememberedCall> remembered_;
  NumberedCalls calls_;
};

TEST_F(NumberedCallsTest, WithThatInWhichItEnded) {
  Remember(0.5);
  Remember(1);
  Update(1);
  Remember(1.5);
  Remember(2.5);
  Update(3);
  EXPECT_THAT(Numbers(0), ElementsAre(1, 1, 2, 3));
  EXPECT_THAT(Numbers(2), ElementsAre(3));
  EXPECT_THAT(Numbers(3), IsEmpty());
}

TEST_F(NumberedCallsTest, NotedLateWithTheFirstThatHasNotBeenTold) {
  Update(5);
  Remember(2.5);
  Update(7);
  EXPECT_THAT(Numbers(5), ElementsAre(6));
}

TEST_F(NumberedCallsTest, NotedEarlyWithTheOneThatIsTold) {
  Remember(3.01);
  Update(3);
  Update(4);
  EXPECT_THAT(Numbers(0), ElementsAre(3));
}

TEST_F(NumberedCallsTest, NoneWithTheSecondBeforeTheFirst) {
  Remember(0.001);
  Update(0);
  EXPECT_THAT(Numbers(0), IsEmpty());
  Update(1);
  EXPECT_THAT(Numbers(0), ElementsAre(1));
}

TEST_F(NumberedCallsTest, CallsThatAreAlikeAreToldApart) {
  Remember(0.5);
  Remember(0.5);
  Update(1);
  Remember(0.5);
  Update(2);
  EXPECT_THAT(Numbers(0), ElementsAre(1, 1, 2));
}

TEST_F(NumberedCallsTest, EachOnceThoughOldOnesAreForgotten) {
  for (uint32_t second = 1; second <= 60; ++second) {
    for (int i = 0; i < 30; ++i) Remember(second - 0.5, std::to_string(second * 100 + i));
    Update(second);
    EXPECT_EQ(Numbers(second - 1).size(), 30u);
  }
  EXPECT_EQ(Numbers(0).size(), RecentCalls::kKept);
  EXPECT_EQ(calls_.After(0).back().call->trace_id, "6029");
}

TEST_F(NumberedCallsTest, MoreThanAreRememberedAreAllNew) {
  Remember(0.5, "first");
  Update(1);
  for (int i = 0; i < 2000; ++i) Remember(1.5, std::to_string(i));
  Update(2);
  EXPECT_EQ(Numbers(1).size(), RecentCalls::kKept);
}

}  // namespace
}  // namespace levee
