// SPDX-License-Identifier: Apache-2.0
#include "wire/percent_encoding.h"

#include <string>

#include "gtest/gtest.h"

namespace levee {
namespace {

TEST(PercentEncoding, PlainTextStaysAsItIs) {
  EXPECT_EQ(PercentEncode("budget used up: ~!"), "budget used up: ~!");
  EXPECT_EQ(PercentEncode(""), "");
}

TEST(PercentEncoding, EverythingElseIsEncodedInUpperCase) {
  EXPECT_EQ(PercentEncode("100% \t\n\x7f"), "100%25 %09%0A%7F");
  EXPECT_EQ(PercentEncode("caf\xc3\xa9"), "caf%C3%A9");
  EXPECT_EQ(PercentEncode(std::string(1, '\0')), "%00");
}

TEST(PercentEncoding, DecodesEitherCase) { EXPECT_EQ(PercentDecode("%c3%A9%25"), "\xc3\xa9%"); }

TEST(PercentEncoding, DecodeKeepsWhatIsNoEscape) {
  for (const char* text : {"%", "%4", "%zz", "%4z", "a%", "%%"}) {
    EXPECT_EQ(PercentDecode(text), text);
  }
  EXPECT_EQ(PercentDecode("%%41"), "%A");
}

TEST(PercentEncoding, EveryByteSurvivesTheWayThereAndBack) {
  std::string all;
  for (int i = 0; i < 256; ++i) all.push_back(static_cast<char>(i));
  EXPECT_EQ(PercentDecode(PercentEncode(all)), all);
}

}  // namespace
}  // namespace levee
