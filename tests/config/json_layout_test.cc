// SPDX-License-Identifier: Apache-2.0
// JSON over several lines.
#include "config/json_layout.h"

#include <string>

#include "gtest/gtest.h"

namespace levee {
namespace {

TEST(JsonLayout, WhatFitsStaysInOneLine) {
  EXPECT_EQ(LayOutJson(R"({"a": [1, "b"], "c": {}})"), "{\"a\": [1, \"b\"], \"c\": {}}\n");
}

TEST(JsonLayout, MembersOfWhatDoesNotFitHaveTheirOwnLines) {
  const std::string word(90, 'x');
  EXPECT_EQ(LayOutJson("{\"a\": [\"" + word + "\", 1], \"b\": {\"c\": 2}}"),
            "{\n"
            "  \"a\": [\n"
            "    \"" +
                word +
                "\",\n"
                "    1\n"
                "  ],\n"
                "  \"b\": {\"c\": 2}\n"
                "}\n");
}

TEST(JsonLayout, BracketsColonsAndQuotesInTextsAreText) {
  const std::string text = R"("}]:,\"\\)" + std::string(100, 'x') + "\"";
  EXPECT_EQ(LayOutJson("[" + text + ", 1]"), "[\n  " + text + ",\n  1\n]\n");
}

}  // namespace
}  // namespace levee
