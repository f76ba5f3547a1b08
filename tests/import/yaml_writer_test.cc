// SPDX-License-Identifier: Apache-2.0
// Values, comments and indentation of the YAML that is written.
#include "import/yaml_writer.h"

#include <string>

#include "gtest/gtest.h"
#include "yaml-cpp/yaml.h"

namespace levee::importer {
namespace {

TEST(YamlText, WordsStandPlainAndEverythingElseInQuotes) {
  EXPECT_EQ(YamlText("shop.Cart"), "shop.Cart");
  EXPECT_EQ(YamlText("*"), "\"*\"");
  EXPECT_EQ(YamlText("/shop.Cart/*"), "\"/shop.Cart/*\"");
  EXPECT_EQ(YamlText("cart.shop:50051"), "\"cart.shop:50051\"");
  EXPECT_EQ(YamlText(""), "\"\"");
}

TEST(YamlText, IsReadBackAsItWas) {
  for (const char* text : {"null", "~", "-", "a: b # c", "\"", "\n", "[x]", "\u00e9", "."}) {
    EXPECT_EQ(YAML::Load(YamlText(text)).as<std::string>(), text);
    EXPECT_EQ(YAML::Load(YamlList({text}))[0].as<std::string>(), text);
  }
}

TEST(YamlValues, HaveTheSpellingOfPolicies) {
  EXPECT_EQ(YamlList({}), "[]");
  EXPECT_EQ(YamlList({"UNAVAILABLE", "5xx", "a:b"}), "[UNAVAILABLE, 5xx, \"a:b\"]");
  EXPECT_EQ(YamlNumber(2), "2");
  EXPECT_EQ(YamlNumber(0.1), "0.1");
  EXPECT_EQ(YamlNumber(1e-5), "1e-05");
  EXPECT_EQ(YamlDuration(absl::ZeroDuration()), "0s");
  EXPECT_EQ(YamlDuration(absl::Milliseconds(1500)), "1.5s");
}

TEST(YamlWriter, IndentsAndMarksElements) {
  YamlWriter out;
  out.Open("policies");
  out.Comment("First.");
  out.BeginItem();
  out.Field("name", "a");
  out.Open("retry");
  out.Comment("Second.");
  out.Field("codes", "[]");
  out.Close();
  out.EndItem();
  out.BeginItem();
  out.Field("name", "b");
  out.EndItem();
  out.CommentOut("- name: c");
  out.Close();
  EXPECT_EQ(out.text(),
            "policies:\n"
            "  # First.\n"
            "  - name: a\n"
            "    retry:\n"
            "      # Second.\n"
            "      codes: []\n"
            "  - name: b\n"
            "  # - name: c\n");
}

TEST(YamlWriter, CommentsAreWrappedAtAHundredColumns) {
  YamlWriter out;
  out.Open("a");
  const std::string word(48, 'x');
  out.Comment(word + " " + word + " y");
  EXPECT_EQ(out.text(), "a:\n  # " + word + "\n  # " + word + " y\n");
  YamlWriter full;
  full.Comment(word + "x " + word);
  EXPECT_EQ(full.text(), "# " + word + "x " + word + "\n");
}

TEST(YamlWriter, NothingLeavesAComment) {
  YamlWriter out;
  out.Comment("a\nb: 1\r\nc: 2");
  EXPECT_EQ(out.text(), "# a b: 1 c: 2\n");
  YamlWriter control;
  control.Comment(std::string("a\0b\x1b", 4));
  EXPECT_EQ(control.text(), "# a?b?\n");
}

}  // namespace
}  // namespace levee::importer
