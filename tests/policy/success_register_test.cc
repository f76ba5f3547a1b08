// SPDX-License-Identifier: Apache-2.0
#include "policy/success_register.h"

#include "gtest/gtest.h"

namespace levee {
namespace {

TEST(SuccessRegister, StartsFullOfSuccesses) { EXPECT_EQ(SuccessRegister().SuccessRate(), 1.0); }

TEST(SuccessRegister, CountsTheLastTwentyResults) {
  SuccessRegister reg;
  for (int i = 0; i < 4; ++i) reg.Record(false);
  EXPECT_EQ(reg.SuccessRate(), 0.8);
  for (int i = 0; i < 100; ++i) reg.Record(false);
  EXPECT_EQ(reg.SuccessRate(), 0.0);
  for (int i = 0; i < 5; ++i) reg.Record(true);
  EXPECT_EQ(reg.SuccessRate(), 0.25);
}

TEST(SuccessRegister, AFailureLeavesAfterTwentyMoreResults) {
  SuccessRegister reg;
  reg.Record(false);
  for (int i = 0; i < 19; ++i) reg.Record(true);
  EXPECT_EQ(reg.SuccessRate(), 0.95);
  reg.Record(true);
  EXPECT_EQ(reg.SuccessRate(), 1.0);
}

}  // namespace
}  // namespace levee
