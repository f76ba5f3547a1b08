// SPDX-License-Identifier: Apache-2.0
#include "config/positions.h"

#include "gtest/gtest.h"

namespace levee {
namespace {

Positions Sample() {
  Positions positions;
  positions.Set("a", {"f", 1, 1, "a"});
  positions.Set("a.max", {"f", 2, 1, "a.max"});
  positions.Set("a.max_attempts", {"f", 3, 1, "a.max_attempts"});
  positions.Set("list[1]", {"f", 4, 1, "list[1]"});
  positions.Set("list[1].name", {"f", 5, 1, "list[1].name"});
  positions.Set("list[10].name", {"f", 6, 1, "list[10].name"});
  return positions;
}

TEST(Positions, FindFallsBackToWhatEncloses) {
  const Positions positions = Sample();
  EXPECT_EQ(FormatPlace(positions.Find("a.max")), "f:2:1: a.max");
  EXPECT_EQ(FormatPlace(positions.Find("a.b[3].c")), "f:1:1: a.b[3].c");
  EXPECT_EQ(FormatPlace(positions.Find("list[1].codes[0]")), "f:4:1: list[1].codes[0]");
  EXPECT_EQ(FormatPlace(positions.Find("b.c")), "built-in default: b.c");
}

TEST(Positions, FindFallsBackToTheDocument) {
  Positions positions;
  positions.Set("", {"f", 1, 1, ""});
  EXPECT_EQ(FormatPlace(positions.Find("b.c")), "f:1:1: b.c");
}

TEST(Positions, EraseForgetsThePathAndWhatIsBelowOnly) {
  Positions positions = Sample();
  positions.Erase("a.max");
  EXPECT_FALSE(positions.Has("a.max"));
  EXPECT_TRUE(positions.Has("a.max_attempts"));
  positions.Erase("list[1]");
  EXPECT_FALSE(positions.Has("list[1].name"));
  EXPECT_TRUE(positions.Has("list[10].name"));
}

TEST(Positions, AdoptKeepsThePathsOfTheFile) {
  Positions positions;
  positions.Adopt(Sample(), "list[1]", "list[7]");
  positions.Adopt(Sample(), "a.max", "b");
  EXPECT_EQ(FormatPlace(positions.Find("list[7].name")), "f:5:1: list[1].name");
  EXPECT_EQ(FormatPlace(positions.Find("list[7].codes")), "f:4:1: list[1].codes");
  EXPECT_FALSE(positions.Has("list[1].name"));
  EXPECT_FALSE(positions.Has("b_attempts"));
}

TEST(Positions, BrokenIsOfThePathItself) {
  Positions positions = Sample();
  positions.MarkBroken("list[1]");
  EXPECT_TRUE(positions.Broken("list[1]"));
  EXPECT_FALSE(positions.Broken("list[1].name"));
  EXPECT_FALSE(positions.Broken("list"));
}

TEST(Positions, OriginIsTheFileTheShorthandOrTheDefault) {
  Positions positions;
  positions.Set("a", {"f", 3, 7, "a"});
  positions.Set("b", {"--to", 0, 0, "b"});
  positions.SetShorthand("c", "preset grpc");
  EXPECT_EQ(positions.OriginOf("a"), "f:3");
  EXPECT_EQ(positions.OriginOf("b"), "--to");
  EXPECT_EQ(positions.OriginOf("c"), "preset grpc");
  EXPECT_EQ(positions.OriginOf("a.inner"), "default");
  EXPECT_FALSE(positions.Has("c"));
}

}  // namespace
}  // namespace levee
