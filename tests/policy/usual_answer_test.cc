// SPDX-License-Identifier: Apache-2.0
#include "policy/usual_answer.h"

#include <gtest/gtest.h>

#include "base/random.h"

namespace levee {
namespace {

// Returns the least wait, in milliseconds, that counts as time enough.
int EnoughMs(const UsualAnswer& usual) {
  int ms = 0;
  while (!usual.HadTime(absl::Milliseconds(ms))) ++ms;
  return ms;
}

TEST(UsualAnswer, NoTimeIsEnoughUntilEightAnswersAreKnown) {
  UsualAnswer usual;
  for (int i = 0; i < 7; ++i) usual.Record(absl::Milliseconds(10));
  EXPECT_FALSE(usual.HadTime(absl::Hours(1)));
  usual.Record(absl::Milliseconds(10));
  EXPECT_TRUE(usual.HadTime(absl::Milliseconds(10)));
  EXPECT_FALSE(usual.HadTime(absl::Milliseconds(8)));
}

TEST(UsualAnswer, IsWhatNineOfTenAnswersTake) {
  Random random(/*seed=*/1);
  UsualAnswer usual;
  double sum = 0;
  for (int i = 0; i < 20'000; ++i) {
    usual.Record(absl::Milliseconds(100 * random.Uniform()));
    if (i >= 10'000) sum += EnoughMs(usual);
  }
  EXPECT_NEAR(sum / 10'000, 90.0 * 8 / 9, 5);
}

TEST(UsualAnswer, FollowsAMethodThatBecomesSlowerOrFaster) {
  UsualAnswer usual;
  for (int i = 0; i < 8; ++i) usual.Record(absl::Milliseconds(10));
  for (int i = 0; i < 40; ++i) usual.Record(absl::Milliseconds(900));
  EXPECT_GE(EnoughMs(usual), 700);
  for (int i = 0; i < 400; ++i) usual.Record(absl::Milliseconds(10));
  EXPECT_LE(EnoughMs(usual), 10);
}

}  // namespace
}  // namespace levee
