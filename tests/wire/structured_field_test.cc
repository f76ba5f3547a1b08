// SPDX-License-Identifier: Apache-2.0
#include "wire/structured_field.h"

#include <string>

#include "gtest/gtest.h"

namespace levee {
namespace {

using Type = BareItem::Type;

std::string Written(std::string_view text) {
  std::string out;
  AppendTokenOrString(text, out);
  return out;
}

TEST(StructuredField, TokenWithParametersOfEveryTypeWeUse) {
  const auto item = ParseStructuredItem("service;reason=budget;upstream=\"my cart\";hops=3");
  ASSERT_TRUE(item.has_value());
  EXPECT_EQ(item->bare.type, Type::kToken);
  EXPECT_EQ(item->bare.text, "service");
  ASSERT_EQ(item->parameters.size(), 3u);
  EXPECT_EQ(item->Parameter("reason")->type, Type::kToken);
  EXPECT_EQ(item->Parameter("reason")->text, "budget");
  EXPECT_EQ(item->Parameter("upstream")->type, Type::kString);
  EXPECT_EQ(item->Parameter("upstream")->text, "my cart");
  EXPECT_EQ(item->Parameter("hops")->type, Type::kInteger);
  EXPECT_EQ(item->Parameter("hops")->integer, 3);
  EXPECT_EQ(item->Parameter("other"), nullptr);
}

TEST(StructuredField, TypesThatLeveeDoesNotUseAreStillWellFormed) {
  for (const char* text : {"a;b", "a;b=?1", "a;b=1.5", "a;b=-12.125", "a;b=:YWJj:", "a;b=::",
                           "a;*x_y-z.0=1", "*tok!#$%&'*+-.^_`|~:/", "-999999999999999", "\"\""}) {
    EXPECT_TRUE(ParseStructuredItem(text).has_value()) << text;
  }
}

TEST(StructuredField, SpacesAreAllowedAroundItemsAndAfterSemicolonsOnly) {
  EXPECT_TRUE(ParseStructuredItem("  a;  b=1  ").has_value());
  for (const char* text : {"a ;b", "a; b =1", "a;b= 1", "a;\tb=1", "\ta"}) {
    EXPECT_FALSE(ParseStructuredItem(text).has_value()) << text;
  }
}

TEST(StructuredField, WhatIsNotWellFormedIsNoItem) {
  for (const char* text : {"",
                           " ",
                           ";",
                           "a;",
                           "a;;b",
                           "a;B=1",
                           "a;=1",
                           "a;b=",
                           "a,b",
                           "a b",
                           "a;1=2",
                           "\"open",
                           "\"a\\b\"",
                           "\"a\tb\"",
                           "a;b=-",
                           "a;b=1.",
                           "a;b=.5",
                           "a;b=1.2345",
                           "a;b=1234567890123.1",
                           "a;b=1234567890123456",
                           "a;b=?2",
                           "a;b=:ab",
                           "a;b=:a b:",
                           "(a b)",
                           "1a",
                           "\"tail\\"}) {
    EXPECT_FALSE(ParseStructuredItem(text).has_value()) << text;
  }
}

TEST(StructuredField, WhatIsVeryLongIsNotRead) {
  const std::string fits = "a;b=" + std::string(kMaxStructuredBytes - 4, 'x');
  EXPECT_TRUE(ParseStructuredItem(fits).has_value());
  EXPECT_FALSE(ParseStructuredItem(fits + "x").has_value());
  const std::string member = "b=" + std::string(kMaxStructuredBytes - 2, 'x');
  EXPECT_TRUE(ParseStructuredDictionary(member).has_value());
  EXPECT_FALSE(ParseStructuredDictionary(member + "x").has_value());
}

TEST(StructuredField, BytesOutsideAsciiAreNeverPartOfAnItem) {
  EXPECT_FALSE(ParseStructuredItem("a\xc3\xa9").has_value());
  EXPECT_FALSE(ParseStructuredItem("\"\xc3\xa9\"").has_value());
  EXPECT_FALSE(ParseStructuredItem(std::string_view("a\0", 2)).has_value());
}

TEST(StructuredField, StringsAreUnquoted) {
  const auto item = ParseStructuredItem(R"("say \"hi\" \\")");
  ASSERT_TRUE(item.has_value());
  EXPECT_EQ(item->bare.text, R"(say "hi" \)");
}

TEST(StructuredField, TheLastOfTwoParametersWins) {
  EXPECT_EQ(ParseStructuredItem("a;b=1;b=2")->Parameter("b")->integer, 2);
}

TEST(StructuredField, IntegersHaveASignAndFifteenDigits) {
  EXPECT_EQ(ParseStructuredItem("-7")->bare.integer, -7);
  EXPECT_EQ(ParseStructuredItem("999999999999999")->bare.integer, 999'999'999'999'999);
}

TEST(StructuredField, TextIsWrittenAsATokenWhereItCanBe) {
  EXPECT_EQ(Written("max_attempts"), "max_attempts");
  EXPECT_EQ(Written("cart.shop:50051"), "cart.shop:50051");
  EXPECT_EQ(Written("10.0.0.7"), "\"10.0.0.7\"");
  EXPECT_EQ(Written("my cart"), "\"my cart\"");
  EXPECT_EQ(Written(""), "\"\"");
  EXPECT_EQ(Written("a\"b\\c"), R"("a\"b\\c")");
  EXPECT_EQ(Written("caf\xc3\xa9"), "\"caf??\"");
}

TEST(StructuredField, WhatIsWrittenReadsBack) {
  for (const char* text : {"cart", "my cart", "a\"b\\c", "", "10.0.0.7:1"}) {
    EXPECT_EQ(ParseStructuredItem("x;p=" + Written(text))->Parameter("p")->text, text);
  }
}

}  // namespace
}  // namespace levee
