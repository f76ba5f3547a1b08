// SPDX-License-Identifier: Apache-2.0
// Any bytes become a valid JSON string.
#include "base/json_text.h"

#include "gtest/gtest.h"

namespace levee {
namespace {

using namespace std::string_view_literals;

std::string Json(std::string_view text) {
  std::string json;
  AppendJsonString(text, json);
  return json;
}

TEST(JsonText, PlainTextStaysAsItIs) {
  EXPECT_EQ(Json(""), R"("")");
  EXPECT_EQ(Json("cart.shop:50051 /~'<>&\x7f"), "\"cart.shop:50051 /~'<>&\x7f\"");
}

TEST(JsonText, IsAppended) {
  std::string json = "a:";
  AppendJsonString("b", json);
  EXPECT_EQ(json, R"(a:"b")");
}

TEST(JsonText, QuotesAndBackslashesAreEscaped) { EXPECT_EQ(Json(R"("a\b")"), R"("\"a\\b\"")"); }

TEST(JsonText, ControlCharactersAreEscaped) {
  EXPECT_EQ(Json("\n\r\t"), R"("\n\r\t")");
  EXPECT_EQ(Json("a\0b\x01\x1f"sv), R"("a\u0000b\u0001\u001f")");
}

TEST(JsonText, Utf8StaysAsItIs) {
  for (const char* text :
       {"\xc2\x80", "\xdf\xbf", "\xe0\xa0\x80", "\xed\x9f\xbf", "\xee\x80\x80", "\xef\xbf\xbf",
        "\xf0\x90\x80\x80", "\xf4\x8f\xbf\xbf", "gr\xc3\xbc\xc3\x9f"}) {
    EXPECT_EQ(Json(text), "\"" + std::string(text) + "\"");
  }
}

// One U+FFFD for each byte.
std::string Replaced(size_t bytes) {
  std::string json = "\"";
  for (size_t i = 0; i < bytes; ++i) json += "\xef\xbf\xbd";
  return json + "\"";
}

TEST(JsonText, BytesThatAreNotUtf8AreReplaced) {
  EXPECT_EQ(Json("\x80"), Replaced(1));
  EXPECT_EQ(Json("\xff\xfe"), Replaced(2));
  EXPECT_EQ(Json("\xf5\x80\x80\x80"), Replaced(4));
}

TEST(JsonText, SequencesThatAreCutShortAreReplaced) {
  EXPECT_EQ(Json("\xc3"), Replaced(1));
  EXPECT_EQ(Json("\xe2\x82"), Replaced(2));
  EXPECT_EQ(Json("\xf0\x9f\x98"), Replaced(3));
  EXPECT_EQ(Json("\xe2\x82z"), "\"\xef\xbf\xbd\xef\xbf\xbdz\"");
  EXPECT_EQ(Json("\xf0\x9f\x98z"), "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbdz\"");
}

TEST(JsonText, WhatFollowsTheTextIsNotRead) {
  const std::string_view text = "\xe2\x82\xac";
  EXPECT_EQ(Json(text.substr(0, 1)), Replaced(1));
  EXPECT_EQ(Json(text.substr(0, 2)), Replaced(2));
}

TEST(JsonText, SequencesThatAreTooLongForTheirCharacterAreReplaced) {
  EXPECT_EQ(Json("\xc0\x80"), Replaced(2));
  EXPECT_EQ(Json("\xc1\xbf"), Replaced(2));
  EXPECT_EQ(Json("\xe0\x9f\xbf"), Replaced(3));
  EXPECT_EQ(Json("\xf0\x8f\xbf\xbf"), Replaced(4));
}

TEST(JsonText, SurrogatesAndWhatIsBeyondUnicodeAreReplaced) {
  EXPECT_EQ(Json("\xed\xa0\x80"), Replaced(3));
  EXPECT_EQ(Json("\xf4\x90\x80\x80"), Replaced(4));
}

}  // namespace
}  // namespace levee
