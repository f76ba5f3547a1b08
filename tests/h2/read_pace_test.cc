// SPDX-License-Identifier: Apache-2.0
#include "h2/read_pace.h"

#include <gtest/gtest.h>

namespace levee::h2 {
namespace {

constexpr size_t kFullRead = 256 * 1024;

// How many frames of this size a flood of them has handled in each turn of the loop, once it goes
// on.
size_t FramesPerTurn(size_t frame_bytes) {
  const size_t limit = NextReadLimit(kFullRead, kFullRead / frame_bytes);
  EXPECT_EQ(NextReadLimit(limit, limit / frame_bytes), limit) << "it ends while the flood goes on";
  return limit / frame_bytes;
}

TEST(ReadPace, H19_AFloodOfTinyFramesHasAFewHundredOfThemHandledInATurn) {
  EXPECT_LE(FramesPerTurn(9), 256u);   // no payload
  EXPECT_LE(FramesPerTurn(10), 256u);  // one byte
  EXPECT_LE(FramesPerTurn(31), 256u);
}

TEST(ReadPace, LargerFramesAreReadAsTheyCome) {
  EXPECT_EQ(NextReadLimit(kFullRead, kFullRead / 32), SIZE_MAX);
  EXPECT_EQ(NextReadLimit(kFullRead, 16), SIZE_MAX);
}

TEST(ReadPace, AFewTinyFramesAreNoFlood) {
  EXPECT_EQ(NextReadLimit(63 * 10, 63), SIZE_MAX);
  EXPECT_EQ(NextReadLimit(0, 0), SIZE_MAX);
}

}  // namespace
}  // namespace levee::h2
