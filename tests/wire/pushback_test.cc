// SPDX-License-Identifier: Apache-2.0
#include "wire/pushback.h"

#include "gtest/gtest.h"

namespace levee {
namespace {

Pushback ParseTrailer(std::string_view value) {
  Metadata trailers;
  trailers.Add("grpc-status", "14");
  trailers.Add("grpc-retry-pushback-ms", value);
  return ParsePushback(trailers);
}

TEST(Pushback, AbsentFieldSaysNothing) {
  Metadata trailers;
  trailers.Add("grpc-status", "14");
  EXPECT_EQ(ParsePushback(trailers).kind, Pushback::Kind::kNone);
}

TEST(Pushback, A33_NumberIsADelayInMilliseconds) {
  EXPECT_EQ(ParseTrailer("1000").kind, Pushback::Kind::kDelay);
  EXPECT_EQ(ParseTrailer("1000").delay, absl::Seconds(1));
  EXPECT_EQ(ParseTrailer("2147483647").delay, absl::Milliseconds(2'147'483'647));
}

TEST(Pushback, A34_ZeroIsADelayOfNothing) {
  EXPECT_EQ(ParseTrailer("0").kind, Pushback::Kind::kDelay);
  EXPECT_EQ(ParseTrailer("0").delay, absl::ZeroDuration());
}

TEST(Pushback, A36_NegativeMeansDoNotRetry) {
  EXPECT_EQ(ParseTrailer("-1").kind, Pushback::Kind::kDoNotRetry);
  EXPECT_EQ(ParseTrailer("-1000").kind, Pushback::Kind::kDoNotRetry);
}

TEST(Pushback, A37_WhatIsNoNumberMeansDoNotRetry) {
  for (const char* value : {"xxx", "", "1.5", "2147483648", "99999999999999999999999", "+1", " 1",
                            "1 ", "1ms", "0x10"}) {
    EXPECT_EQ(ParseTrailer(value).kind, Pushback::Kind::kDoNotRetry) << value;
  }
}

TEST(Pushback, A38_TwoValuesMeanDoNotRetry) {
  Metadata trailers;
  trailers.Add("grpc-retry-pushback-ms", "10");
  trailers.Add("grpc-retry-pushback-ms", "10");
  EXPECT_EQ(ParsePushback(trailers).kind, Pushback::Kind::kDoNotRetry);
}

}  // namespace
}  // namespace levee
