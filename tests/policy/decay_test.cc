// SPDX-License-Identifier: Apache-2.0
#include "policy/decay.h"

#include <gtest/gtest.h>

#include <cmath>

namespace levee {
namespace {

TEST(Decay, LeavesWhatTheExponentialFunctionSays) {
  for (double spans = 0; spans < 30; spans += 0.001) {
    EXPECT_NEAR(LeftAfter(spans) / std::exp(-spans), 1, 1e-9) << spans;
  }
  EXPECT_EQ(LeftAfter(0), 1);
}

TEST(Decay, NeverLeavesMoreLater) {
  for (double spans = 0; spans < 2; spans += 0.0001) {
    EXPECT_LT(LeftAfter(spans + 0.0001), LeftAfter(spans)) << spans;
  }
}

}  // namespace
}  // namespace levee
