// SPDX-License-Identifier: Apache-2.0
// The calls that get a line in the access log.
#include "policy/access_log_filter.h"

#include "gtest/gtest.h"

namespace levee {
namespace {

constexpr AccessLogFilter kAll{.all = true, .retried = false, .failed = false};
constexpr AccessLogFilter kRetried{.retried = true, .failed = false};
constexpr AccessLogFilter kFailed{.retried = false, .failed = true};
constexpr AccessLogFilter kNone{.retried = false, .failed = false};

CallRecord Ended(StatusCode code, size_t attempts) {
  CallRecord record;
  record.code = code;
  record.attempts.resize(attempts);
  return record;
}

bool Selects(const AccessLogFilter& filter, const CallRecord& record) {
  Random random(1);
  return filter.Selects(record, random);
}

TEST(AccessLogFilter, AllSelectsEveryCall) {
  EXPECT_TRUE(Selects(kAll, Ended(StatusCode::kOk, 1)));
  EXPECT_TRUE(Selects(kAll, Ended(StatusCode::kUnavailable, 0)));
  EXPECT_FALSE(Selects(kNone, Ended(StatusCode::kUnavailable, 2)));
}

TEST(AccessLogFilter, RetriedSelectsCallsOfMoreThanOneAttempt) {
  EXPECT_TRUE(Selects(kRetried, Ended(StatusCode::kOk, 2)));
  EXPECT_FALSE(Selects(kRetried, Ended(StatusCode::kOk, 1)));
  EXPECT_FALSE(Selects(kRetried, Ended(StatusCode::kUnavailable, 1)));
}

TEST(AccessLogFilter, ATransparentRetryIsAnAttempt) {
  CallRecord record = Ended(StatusCode::kOk, 2);
  record.attempts[1].transparent = true;
  EXPECT_TRUE(Selects(kRetried, record));
}

TEST(AccessLogFilter, FailedSelectsCallsThatDidNotEndWithOk) {
  EXPECT_TRUE(Selects(kFailed, Ended(StatusCode::kNotFound, 1)));
  EXPECT_TRUE(Selects(kFailed, Ended(StatusCode::kResourceExhausted, 0)));
  EXPECT_FALSE(Selects(kFailed, Ended(StatusCode::kOk, 2)));
}

TEST(AccessLogFilter, BothTogetherSelectEither) {
  const AccessLogFilter filter;
  EXPECT_TRUE(Selects(filter, Ended(StatusCode::kOk, 2)));
  EXPECT_TRUE(Selects(filter, Ended(StatusCode::kNotFound, 1)));
  EXPECT_FALSE(Selects(filter, Ended(StatusCode::kOk, 1)));
}

TEST(AccessLogFilter, TheSampleIsOfWhatIsSelected) {
  AccessLogFilter filter = kFailed;
  filter.sample = 0.25;
  Random random(1);
  int failed = 0;
  for (int i = 0; i < 10'000; ++i) {
    if (filter.Selects(Ended(StatusCode::kUnavailable, 1), random)) ++failed;
    EXPECT_FALSE(filter.Selects(Ended(StatusCode::kOk, 1), random));
  }
  EXPECT_NEAR(failed, 2500, 150);
}

TEST(AccessLogFilter, ASampleOfZeroIsNothingAndOfOneIsEverything) {
  AccessLogFilter nothing = kAll;
  nothing.sample = 0;
  Random random(1);
  for (int i = 0; i < 1000; ++i) {
    EXPECT_FALSE(nothing.Selects(Ended(StatusCode::kOk, 1), random));
    EXPECT_TRUE(kAll.Selects(Ended(StatusCode::kOk, 1), random));
  }
}

TEST(AccessLogFilter, NoRandomNumberIsDrawnForACallThatIsNotSelected) {
  Random random(1), untouched(1);
  kFailed.Selects(Ended(StatusCode::kOk, 1), random);
  EXPECT_EQ(random.Next(), untouched.Next());
}

}  // namespace
}  // namespace levee
