// SPDX-License-Identifier: Apache-2.0
#include "spiffe/feed_rule.h"

#include "gtest/gtest.h"

namespace levee {
namespace {

TEST(FeedRule, AnApiThatRefusesOrIsAwayIsAskedLessAndLessOften) {
  for (const StatusCode code : {StatusCode::kPermissionDenied, StatusCode::kUnavailable}) {
    FeedRule rule;
    Random random(1);
    absl::Duration nominal = absl::Milliseconds(250);
    for (int i = 0; i < 20; ++i) {
      const absl::Duration wait = rule.OnEnded(code, random);
      EXPECT_GE(wait, nominal / 2);
      EXPECT_LE(wait, nominal);
      nominal = std::min(2 * nominal, FeedRule::kLongest);
    }
  }
}

TEST(FeedRule, AStreamThatEndsAfterAnSvidIsFollowedSoon) {
  FeedRule rule;
  Random random(1);
  for (int i = 0; i < 10; ++i) rule.OnEnded(StatusCode::kUnavailable, random);
  rule.OnSvid();
  EXPECT_LE(rule.OnEnded(StatusCode::kOk, random), absl::Milliseconds(250));
}

TEST(FeedRule, AnApiThatSaysThatTheRequestIsWrongIsNotAskedAgain) {
  FeedRule rule;
  Random random(1);
  EXPECT_EQ(rule.OnEnded(StatusCode::kInvalidArgument, random), absl::InfiniteDuration());
}

}  // namespace
}  // namespace levee
