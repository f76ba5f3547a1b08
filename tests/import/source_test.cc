// SPDX-License-Identifier: Apache-2.0
// Reading JSON and YAML: values, their places, and the keys that were not asked for.
#include "import/source.h"

#include <string>

#include "gtest/gtest.h"

namespace levee::importer {
namespace {

// The faults so far, one per line.
std::string FaultsOf(const Source& source) { return FormatFaults(source.Faults()); }

class SourceTest : public testing::Test {
 protected:
  Section Read(const std::string& text) {
    const std::optional<Item> root = source_.Parse({"f", text});
    if (!root.has_value()) return *source_.AsSection({YAML::Node(YAML::NodeType::Map), {}});
    return *source_.AsSection(*root);
  }

  Source source_{Keys::kAsWritten};
};

TEST_F(SourceTest, JsonIsReadAsItIsMeant) {
  Section read = Read(
      "{\n\t\"quoted\": \"a\\u00e9\\n\\\"\\/\",\t\"colon\":\"x: y # z\",\"tight\":1,\r\n"
      "\t\"empty\": \"\", \"yes\": true, \"none\": null, \"exponent\": 1.5e3}\n");
  EXPECT_EQ(read.Text("quoted"), "a\u00e9\n\"/");
  EXPECT_EQ(read.Text("colon"), "x: y # z");
  EXPECT_EQ(read.Whole("tight"), 1);
  EXPECT_EQ(read.Text("empty"), "");
  EXPECT_EQ(read.Flag("yes"), true);
  EXPECT_EQ(read.Text("none"), std::nullopt);
  EXPECT_EQ(read.Whole("exponent"), 1500);
  EXPECT_EQ(FaultsOf(source_), "");
}

TEST_F(SourceTest, WhatIsNoJsonIsAnErrorWithItsPosition) {
  EXPECT_FALSE(source_.Parse({"f", "{\"a\": 1,\n  \"b\": [1, 2}"}).has_value());
  EXPECT_EQ(FaultsOf(source_),
            "f:2:13: LV101 this is not YAML: illegal flow end; check the indentation, brackets and "
            "quotes up to here");
}

TEST_F(SourceTest, ALetterThatTheReaderCannotReadIsAnError) {
  EXPECT_FALSE(source_.Parse({"f", "{\"a\": \"\\ud83d\\ude00\"}"}).has_value());
  EXPECT_EQ(FaultsOf(source_), "f:1:14: LV101 this is not YAML: invalid unicode: 55357");
}

// 2.5 GB were taken for such a list of 10 MB before it was refused.
TEST_F(SourceTest, ValuesAreCountedWhileTheTextIsRead) {
  std::string text = "[";
  for (int i = 0; i < 1'000'001; ++i) text += "1,";
  text += "1}";
  EXPECT_FALSE(source_.Parse({"f", text}).has_value());
  EXPECT_TRUE(source_.ParseDocuments({"g", text}).empty());
  EXPECT_EQ(FaultsOf(source_),
            "f:1:2000003: LV104 more than 1000000 values, or as many commas\n"
            "g:1:2000003: LV104 more than 1000000 values, or as many commas");
}

TEST_F(SourceTest, AnEmptyTextIsAnError) {
  EXPECT_FALSE(source_.Parse({"f", "# nothing\n"}).has_value());
  EXPECT_EQ(FaultsOf(source_), "f: is empty");
}

TEST_F(SourceTest, NumbersMayStandInQuotes) {
  Section read = Read("{a: \"4\", b: 4.0, c: \"0.5\"}");
  EXPECT_EQ(read.Whole("a"), 4);
  EXPECT_EQ(read.Whole("b"), 4);
  EXPECT_EQ(read.Number("c"), 0.5);
}

TEST_F(SourceTest, DurationsAreSeconds) {
  Section read = Read("{a: 0.25s, b: .1s, c: 3s, d: 0s, e: 1.000000001s}");
  EXPECT_EQ(read.Duration("a"), absl::Milliseconds(250));
  EXPECT_EQ(read.Duration("b"), absl::Milliseconds(100));
  EXPECT_EQ(read.Duration("c"), absl::Seconds(3));
  EXPECT_EQ(read.Duration("d"), absl::ZeroDuration());
  EXPECT_EQ(read.Duration("e"), absl::Seconds(1) + absl::Nanoseconds(1));
}

TEST_F(SourceTest, WrongValuesAreFaultsWithTheirPlace) {
  Section read = Read(
      "a: x\nb: 1.5\nc: 100ms\nd: -1s\ne: [1]\nf: {}\ng: maybe\nh: 1\ni: s\nj: inf\nk: 1e400\n");
  EXPECT_EQ(read.Number("a"), std::nullopt);
  EXPECT_EQ(read.Whole("b"), std::nullopt);
  EXPECT_EQ(read.Duration("c"), std::nullopt);
  EXPECT_EQ(read.Duration("d"), std::nullopt);
  EXPECT_EQ(read.Text("e"), std::nullopt);
  EXPECT_TRUE(read.List("f").empty());
  EXPECT_EQ(read.Flag("g"), std::nullopt);
  EXPECT_FALSE(read.Map("h").has_value());
  EXPECT_EQ(read.Duration("i"), std::nullopt);
  EXPECT_EQ(read.Number("j"), std::nullopt);
  EXPECT_EQ(read.Whole("k"), std::nullopt);
  EXPECT_EQ(FaultsOf(source_),
            "f:1:4: a: \"x\" is not a number\n"
            "f:2:4: b: \"1.5\" is not a whole number\n"
            "f:3:4: c: \"100ms\" is not a duration; they are seconds, as in 0.25s\n"
            "f:4:4: d: \"-1s\" is not a duration; they are seconds, as in 0.25s\n"
            "f:5:1: e: is a list; write a single value\n"
            "f:6:1: f: is a mapping; write a list\n"
            "f:7:4: g: \"maybe\" is not true or false\n"
            "f:8:4: h: is \"1\"; write a mapping\n"
            "f:9:4: i: \"s\" is not a duration; they are seconds, as in 0.25s\n"
            "f:10:4: j: \"inf\" is not a number\n"
            "f:11:4: k: \"1e400\" is not a whole number");
}

TEST_F(SourceTest, ElementsHaveTheirPlaceAndNumber) {
  Section read = Read("list:\n  - {a: 1}\n  - null\n  - {a: x}\n");
  std::vector<Section> maps = read.Maps("list");
  ASSERT_EQ(maps.size(), 2u);
  EXPECT_EQ(maps[1].Whole("a"), std::nullopt);
  EXPECT_EQ(FaultsOf(source_),
            "f:2:3: list[1]: is null; write a mapping\n"
            "f:4:9: list[2].a: \"x\" is not a whole number");
}

TEST_F(SourceTest, AKeyThatIsGivenTwiceIsAFault) {
  Read("{\"a\": 1, \"b\": 2, \"a\": 3}");
  EXPECT_EQ(FaultsOf(source_), "f:1:23: a: is given twice");
}

TEST_F(SourceTest, WhatWasNotAskedForIsTold) {
  Section read = Read("{known: 1, extra: 2, \"odd key\": 3, retryPolcy: 4, nothing: null}");
  read.Whole("known");
  read.Map("retryPolicy");
  EXPECT_EQ(read.Unread(),
            "Not read in the file: extra, \"odd key\", retryPolcy (did you mean retryPolicy?).");
  read.Ignore({"extra", "odd key", "retryPolcy"});
  EXPECT_EQ(read.Unread(), "");
}

TEST_F(SourceTest, OnlyTheEndOfALongPathIsShown) {
  Section read = Read("{a: {b: {c: {d: {e: {f: 1}}}}}}");
  for (const char* key : {"a", "b", "c", "d", "e"}) read = *read.Map(key);
  EXPECT_EQ(read.place().path, "a.b.c.d.e");
  EXPECT_EQ(read.Unread(), "Not read in b.c.d.e: f.");
}

TEST(Keys, SnakeCaseKnowsBothSpellings) {
  Source source(Keys::kSnakeCase);
  Section read = *source.AsSection(*source.Parse(
      {"f", "{retryPolicy: a, num_retries: 1, \"@type\": t, envoy.filters.Http: x}"}));
  EXPECT_EQ(read.Text("retry_policy"), "a");
  EXPECT_EQ(read.Whole("num_retries"), 1);
  EXPECT_EQ(read.Text("@type"), "t");
  EXPECT_EQ(read.Text("envoy.filters.Http"), "x");
}

TEST(Keys, TwoSpellingsOfOneKeyAreAFault) {
  Source source(Keys::kSnakeCase);
  source.AsSection(*source.Parse({"f", "retryPolicy: a\nretry_policy: b\n"}));
  EXPECT_EQ(FormatFaults(source.Faults()), "f:2:15: retry_policy: is given twice");
}

}  // namespace
}  // namespace levee::importer
