// SPDX-License-Identifier: Apache-2.0
// Flow-control windows by themselves.
#include "h2/flow_window.h"

#include <gtest/gtest.h>

namespace levee::h2 {
namespace {

TEST(SendWindow, BeginsWithTheProtocolsDefaultAndShrinksByWhatIsSent) {
  SendWindow window;
  EXPECT_EQ(window.bytes(), 65'535);
  window.Take(65'000);
  EXPECT_EQ(window.bytes(), 535);
}

TEST(SendWindow, MayBecomeNegative) {
  SendWindow window(100);
  window.Take(100);
  EXPECT_TRUE(window.Grow(-50));
  EXPECT_EQ(window.bytes(), -50);
}

TEST(SendWindow, MustNotGrowBeyond31Bits) {
  SendWindow window(0);
  EXPECT_TRUE(window.Grow(2'147'483'647));
  EXPECT_FALSE(window.Grow(1));
}

TEST(ReceiveWindow, TakesAllThatItAllowsAndNothingMore) {
  ReceiveWindow window(10);
  EXPECT_TRUE(window.Take(10));
  EXPECT_TRUE(window.Take(0));
  EXPECT_FALSE(window.Take(1));
}

TEST(ReceiveWindow, TellsThePeerWhenHalfOfTheWindowHasComeTogether) {
  ReceiveWindow window(100);
  EXPECT_TRUE(window.Take(80));
  EXPECT_FALSE(window.Credit(49));
  EXPECT_TRUE(window.Credit(1));
  EXPECT_EQ(window.bytes(), 20);
  EXPECT_EQ(window.Update(100), 50u);
  EXPECT_EQ(window.bytes(), 70);
  EXPECT_FALSE(window.Credit(30));
}

TEST(ReceiveWindow, GrowsWhenThePeerHasUsedHalfOfTheOneThatItKnows) {
  ReceiveWindow window(100);
  EXPECT_TRUE(window.Take(50));
  EXPECT_FALSE(window.Credit(49));
  EXPECT_TRUE(window.Credit(1));
  EXPECT_EQ(window.Update(1000), 950u);
  EXPECT_EQ(window.bytes(), 1000);
}

TEST(ReceiveWindow, ShrinksAsThePeerUsesIt) {
  ReceiveWindow window(1000);
  EXPECT_TRUE(window.Take(900));
  EXPECT_TRUE(window.Credit(900));
  EXPECT_EQ(window.Update(100), 0u);
  EXPECT_TRUE(window.Take(50));
  EXPECT_TRUE(window.Credit(50));
  EXPECT_EQ(window.Update(100), 50u);
  EXPECT_EQ(window.bytes(), 100);
}

TEST(ReceiveWindow, NeverTellsThePeerNothing) {
  ReceiveWindow window(0);
  window.Credit(0);
  EXPECT_EQ(window.Update(0), 0u);
}

TEST(ReceiveWindow, OfAPeerThatLearnsOfASmallerOneMayBecomeNegative) {
  ReceiveWindow window(100);
  EXPECT_TRUE(window.Take(60));
  window.Change(-50);
  EXPECT_EQ(window.bytes(), -10);
  EXPECT_FALSE(window.Take(1));
}

}  // namespace
}  // namespace levee::h2
