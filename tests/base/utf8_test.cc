// SPDX-License-Identifier: Apache-2.0
// Which bytes are UTF-8, and where a text stops being UTF-8.
#include "base/utf8.h"

#include "gtest/gtest.h"

namespace levee {
namespace {

TEST(Utf8, CharactersHaveOneToFourBytes) {
  EXPECT_EQ(Utf8CharacterSize("a\xc3\xa9"), 1u);
  EXPECT_EQ(Utf8CharacterSize("\xc3\xa9z"), 2u);
  EXPECT_EQ(Utf8CharacterSize("\xe2\x82\xac"), 3u);
  EXPECT_EQ(Utf8CharacterSize("\xf0\x9f\x98\x80"), 4u);
}

TEST(Utf8, WhatIsNoCharacterHasNoSize) {
  for (const char* text : {"\x80", "\xc0\xaf", "\xc3", "\xe0\x80\x80", "\xed\xa0\x80", "\xe2\x82",
                           "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xff"}) {
    EXPECT_EQ(Utf8CharacterSize(text), 0u);
  }
}

TEST(Utf8, FirstInvalidByteIsFound) {
  EXPECT_EQ(FindInvalidUtf8(""), std::string_view::npos);
  EXPECT_EQ(FindInvalidUtf8("gr\xc3\xbc\xc3\x9f"), std::string_view::npos);
  EXPECT_EQ(FindInvalidUtf8("gr\xfc\xdf"), 2u);
  EXPECT_EQ(FindInvalidUtf8("\xc3\xbc\xc3"), 2u);
}

TEST(Utf8, ABeginningCutsNoCharacterInTwo) {
  EXPECT_EQ(Utf8Beginning("caf\xc3\xa9", 5), "caf\xc3\xa9");
  EXPECT_EQ(Utf8Beginning("caf\xc3\xa9", 4), "caf");
  EXPECT_EQ(Utf8Beginning("x\xe2\x9c\x93y", 3), "x");
  EXPECT_EQ(Utf8Beginning("x\xe2\x9c\x93y", 4), "x\xe2\x9c\x93");
  EXPECT_EQ(Utf8Beginning("\xf0\x9f\x8c\x8a", 3), "");
  EXPECT_EQ(Utf8Beginning("\xbf\xbf\xbf\xbf\xbf\xbf", 5), "\xbf\xbf\xbf\xbf\xbf");
  EXPECT_EQ(Utf8Beginning("abc", 0), "");
}

}  // namespace
}  // namespace levee
