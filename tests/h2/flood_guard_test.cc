// SPDX-License-Identifier: Apache-2.0
// FloodGuard counts each event against the right bound.
#include "h2/flood_guard.h"

#include <gtest/gtest.h>

namespace levee::h2 {
namespace {

constexpr SessionOptions kOptions = {
    .resets_per_second = 5, .control_frames_per_second = 3, .pending_frames = 4};

// How many events in a row pass.
template <typename F>
int Passed(F event) {
  int passed = 0;
  while (passed < 1000 && event()) ++passed;
  return passed;
}

TEST(FloodGuard, AllowsTwiceTheRateOfResetsAtOnce) {
  FloodGuard guard(kOptions);
  EXPECT_EQ(Passed([&] { return guard.OnReset(Instant()); }), 10);
}

TEST(FloodGuard, AllowsTenTimesTheRateOfControlFramesAtOnce) {
  FloodGuard guard(kOptions);
  EXPECT_EQ(Passed([&] { return guard.OnControlFrame(Instant()); }), 30);
}

TEST(FloodGuard, CountsSettingsAmongTheControlFrames) {
  FloodGuard guard(kOptions);
  EXPECT_EQ(Passed([&] { return guard.OnSettings(Instant()); }), 30);
  EXPECT_FALSE(guard.OnControlFrame(Instant()));
}

TEST(FloodGuard, AllowsAHundredSettingsAtOnceWhateverTheRateOfControlFrames) {
  FloodGuard guard(SessionOptions{.control_frames_per_second = 1000});
  EXPECT_EQ(Passed([&] { return guard.OnSettings(Instant()); }), 100);
  EXPECT_TRUE(guard.OnControlFrame(Instant()));
}

TEST(FloodGuard, AUsefulFrameMakesUpForEightControlFramesButForNoResets) {
  FloodGuard guard(kOptions);
  Passed([&] { return guard.OnControlFrame(Instant()); });
  Passed([&] { return guard.OnReset(Instant()); });
  guard.OnUsefulFrame();
  EXPECT_EQ(Passed([&] { return guard.OnControlFrame(Instant()); }), 8);
  EXPECT_FALSE(guard.OnReset(Instant()));
}

TEST(FloodGuard, ASmallBodyThatFillsTheWindowMakesUpForNothing) {
  FloodGuard guard(kOptions);
  Passed([&] { return guard.OnControlFrame(Instant()); });
  guard.OnBodySent(1023, 1023);
  EXPECT_FALSE(guard.OnControlFrame(Instant()));
  guard.OnBodySent(1023, 1024);
  EXPECT_EQ(Passed([&] { return guard.OnControlFrame(Instant()); }), 8);
  guard.OnBodySent(1024, 1024);
  EXPECT_EQ(Passed([&] { return guard.OnControlFrame(Instant()); }), 8);
}

TEST(FloodGuard, CountsAnswersThatWaitAndForgetsThemOnceTheyAreSent) {
  FloodGuard guard(kOptions);
  EXPECT_EQ(Passed([&] { return guard.OnReply(); }), 4);
  guard.OnRepliesSent();
  EXPECT_EQ(Passed([&] { return guard.OnReply(); }), 4);
}

}  // namespace
}  // namespace levee::h2
