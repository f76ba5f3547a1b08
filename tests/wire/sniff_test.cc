// SPDX-License-Identifier: Apache-2.0
// What a connection carries that leads to somebody else.
#include "wire/sniff.h"

#include <string>

#include "gtest/gtest.h"
#include "wire/times.h"

namespace levee {
namespace {

const Instant kUntil = At(100);

TEST(Sniff, TheWholePrefaceIsHttp2HoweverLateItIsComplete) {
  const std::string preface(kHttp2Preface);
  EXPECT_EQ(Sniff(preface, At(0), kUntil), Carries::kHttp2);
  EXPECT_EQ(Sniff(preface + "more", At(0), kUntil), Carries::kHttp2);
  EXPECT_EQ(Sniff(preface, At(100), kUntil), Carries::kHttp2);
}

TEST(Sniff, EachPartOfAPrefaceWaitsForTheRestUntilTheTimeIsUp) {
  for (size_t size = 0; size < kHttp2Preface.size(); ++size) {
    const std::string_view part = kHttp2Preface.substr(0, size);
    EXPECT_EQ(Sniff(part, At(99), kUntil), Carries::kUnknown) << size;
    EXPECT_EQ(Sniff(part, At(100), kUntil), Carries::kOther) << size;
  }
}

TEST(Sniff, TheFirstByteThatIsNotOfThePrefaceSaysThatItIsSomethingElse) {
  for (const char* bytes : {"\x16\x03\x01", "GET / HTTP/1.1", "CONNECT a:1 HTTP/1.1",
                            "PRI * HTTP/1", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r!", "x"}) {
    EXPECT_EQ(Sniff(bytes, At(0), kUntil), Carries::kOther) << bytes;
  }
}

}  // namespace
}  // namespace levee
