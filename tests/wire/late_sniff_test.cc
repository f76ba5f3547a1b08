// SPDX-License-Identifier: Apache-2.0
// What a connection carries whose caller was silent at first.
#include "wire/late_sniff.h"

#include <string>

#include "gtest/gtest.h"
#include "wire/first_bytes.h"
#include "wire/times.h"

namespace levee {
namespace {

constexpr std::string_view kSettings("\0\0\6\4\0\0\0\0\0\0\3\0\0\0\x64", 15);

TEST(LateSniff, ACallerThatSpeaksHttp2IsServedHoweverLateItBegins) {
  LateSniff sniff;
  EXPECT_EQ(sniff.Look({}, At(0)), Late::kHold);
  EXPECT_EQ(sniff.due(), Instant::Infinite());
  const std::string preface(kHttp2Preface);
  EXPECT_EQ(sniff.Look({.caller = preface + "more"}, At(1'000'000)), Late::kHttp2);
}

TEST(LateSniff, TheSettingsOfAServerAreKeptForACallerThatSpeaksHttp2Later) {
  LateSniff sniff;
  EXPECT_EQ(sniff.Look({.destination = kSettings}, At(5)), Late::kHold);
  EXPECT_EQ(sniff.due(), At(10'005));
  EXPECT_EQ(sniff.Look({.destination = kSettings}, At(10'004)), Late::kHold);
  EXPECT_EQ(sniff.Look({.caller = kHttp2Preface, .destination = kSettings}, At(10'004)),
            Late::kHttp2);
}

TEST(LateSniff, AServerWhoseFirstBytesOnlyLookLikeSettingsIsHeardAfterTenSeconds) {
  LateSniff sniff;
  EXPECT_EQ(sniff.Look({.destination = kSettings}, At(5)), Late::kHold);
  EXPECT_EQ(sniff.Look({.destination = kSettings}, At(10'005)), Late::kPassOn);
}

TEST(LateSniff, AServerThatSpeaksAnythingElseIsHeardAtOnce) {
  using namespace std::string_literals;
  for (const std::string& greeting :
       {"J\0\0\0\x0a"
        "8.0.36"s,
        "220 ready"s, "5"s, "\0\0\7\4\0\0\0\0\0"s, "\0\0\6\5"s, "\0\0\6\4\1\0\0\0\0"s,
        "\0\0\6\4\0\0\0\0\1"s, "\0\x40\2\4\0\0\0\0\0"s, "\1"s}) {
    LateSniff sniff;
    EXPECT_EQ(sniff.Look({.destination = greeting}, At(0)), Late::kPassOn) << greeting;
  }
}

TEST(LateSniff, EachPartOfTheHeadOfSettingsWaitsForTheRestForAMoment) {
  for (size_t size = 1; size < 9; ++size) {
    LateSniff sniff;
    const std::string_view part = kSettings.substr(0, size);
    EXPECT_EQ(sniff.Look({.destination = part}, At(7)), Late::kHold) << size;
    EXPECT_EQ(sniff.due(), At(107)) << size;
    EXPECT_EQ(sniff.Look({.destination = part}, At(107)), Late::kPassOn) << size;
  }
  // The rest of it, and not the part, says how long.
  LateSniff sniff;
  EXPECT_EQ(sniff.Look({.destination = kSettings.substr(0, 8)}, At(7)), Late::kHold);
  EXPECT_EQ(sniff.Look({.destination = kSettings.substr(0, 9)}, At(50)), Late::kHold);
  EXPECT_EQ(sniff.due(), At(10'007));
}

TEST(LateSniff, EachPartOfAPrefaceWaitsForTheRestForAMoment) {
  for (size_t size = 1; size < kHttp2Preface.size(); ++size) {
    LateSniff sniff;
    const std::string_view part = kHttp2Preface.substr(0, size);
    EXPECT_EQ(sniff.Look({.caller = part, .destination = kSettings}, At(3)), Late::kHold) << size;
    EXPECT_EQ(sniff.due(), At(103)) << size;
    EXPECT_EQ(sniff.Look({.caller = kHttp2Preface}, At(102)), Late::kHttp2) << size;
    EXPECT_EQ(sniff.Look({.caller = part}, At(103)), Late::kPassOn) << size;
  }
}

TEST(LateSniff, ACallerThatSpeaksAnythingElseIsHeardAtOnceAndSoIsItsServer) {
  for (const char* bytes : {"\x16\x03\x01", "GET / HTTP/1.1", "PRI * HTTP/1", "x"}) {
    LateSniff sniff;
    EXPECT_EQ(sniff.Look({.destination = kSettings}, At(0)), Late::kHold);
    EXPECT_EQ(sniff.Look({.caller = bytes, .destination = kSettings}, At(1)), Late::kPassOn);
  }
}

TEST(LateSniff, WhoeverSaysNothingMoreIsHeardAtOnce) {
  for (const std::string_view destination :
       {std::string_view(), kSettings.substr(0, 4), kSettings}) {
    EXPECT_EQ(LateSniff().Look({.destination = destination, .ended = true}, At(0)), Late::kPassOn);
  }
  EXPECT_EQ(LateSniff().Look({.caller = "PRI", .ended = true}, At(0)), Late::kPassOn);
  // A caller may have said all that it has to say in HTTP/2.
  EXPECT_EQ(LateSniff().Look({.caller = kHttp2Preface, .ended = true}, At(0)), Late::kHttp2);
}

}  // namespace
}  // namespace levee
