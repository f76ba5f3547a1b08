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

}  // namespace
}  // namespace levee
