// SPDX-License-Identifier: Apache-2.0
#include "wire/retry_advice.h"

#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "wire/details_text.h"

namespace levee {
namespace {

using Fields = std::vector<std::pair<std::string, std::string>>;

// 1994-11-06 08:49:37 UTC, the moment of RFC 9110's examples.
const absl::Time kExample = absl::FromUnixSeconds(784'111'777);

absl::Duration ParseAdvice(const Fields& fields, absl::Time wall_now = kExample) {
  Metadata metadata;
  for (const auto& [name, value] : fields) metadata.Add(name, value);
  return ParseRetryAdvice(metadata, wall_now);
}

absl::Duration RetryAfter(const std::string& value, absl::Time wall_now = kExample) {
  return ParseAdvice({{":status", "503"}, {"retry-after", value}}, wall_now);
}

absl::Duration Details(const std::vector<google::protobuf::Any>& details) {
  return ParseAdvice(
      {{"grpc-status", "14"}, {"grpc-status-details-bin", EncodeDetails(14, "m", details)}});
}

TEST(RetryAdvice, A40_WithoutAFieldThereIsNone) {
  EXPECT_EQ(ParseAdvice({}), absl::ZeroDuration());
  EXPECT_EQ(ParseAdvice({{"grpc-status", "14"}, {"date", "Sun, 06 Nov 1994 08:49:37 GMT"}}),
            absl::ZeroDuration());
}

TEST(RetryAdvice, A40_RetryAfterIsANumberOfSeconds) {
  EXPECT_EQ(RetryAfter("0"), absl::ZeroDuration());
  EXPECT_EQ(RetryAfter("120"), absl::Seconds(120));
  EXPECT_EQ(RetryAfter("007"), absl::Seconds(7));
}

TEST(RetryAdvice, A40_RetryAfterIsADateInAnyOfThreeForms) {
  for (const char* date : {"Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT",
                           "Sun Nov  6 08:49:37 1994"}) {
    EXPECT_EQ(RetryAfter(date, kExample - absl::Seconds(30)), absl::Seconds(30)) << date;
  }
}

TEST(RetryAdvice, A40_DatesOfEachMonthAreRead) {
  const char* months[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                          "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  for (int month = 1; month <= 12; ++month) {
    const absl::Time midnight =
        absl::FromCivil(absl::CivilDay(2026, month, 21), absl::UTCTimeZone());
    const std::string date = std::string("Wed, 21 ") + months[month - 1] + " 2026 00:00:05 GMT";
    EXPECT_EQ(RetryAfter(date, midnight), absl::Seconds(5)) << date;
  }
}

TEST(RetryAdvice, A40_ADateIsRelativeToTheAnswersOwn) {
  const Fields fields = {{"retry-after", "Sun, 06 Nov 1994 08:49:37 GMT"},
                         {"date", "Sun, 06 Nov 1994 08:49:00 GMT"}};
  EXPECT_EQ(ParseAdvice(fields, kExample + absl::Hours(10)), absl::Seconds(37));
}

TEST(RetryAdvice, A40_ADateFieldThatCannotBeReadIsPassedOver) {
  for (const char* date : {"yesterday", "", "infinite-past"}) {
    const Fields fields = {{"retry-after", "Sun, 06 Nov 1994 08:49:37 GMT"}, {"date", date}};
    EXPECT_EQ(ParseAdvice(fields, kExample - absl::Seconds(5)), absl::Seconds(5)) << date;
  }
}

TEST(RetryAdvice, A40_ADateInThePastIsNoWait) {
  EXPECT_EQ(RetryAfter("Sun, 06 Nov 1994 08:49:37 GMT", kExample + absl::Seconds(1)),
            absl::ZeroDuration());
}

TEST(RetryAdvice, A40_NegativeAdviceIsNoWait) {
  EXPECT_EQ(RetryAfter("-5"), absl::ZeroDuration());
  EXPECT_EQ(Details({RetryInfo(-5, -1)}), absl::ZeroDuration());
  EXPECT_EQ(Details({RetryInfo(std::numeric_limits<int64_t>::min(), -999'999'999)}),
            absl::ZeroDuration());
}

TEST(RetryAdvice, A40_BadTextIsNothing) {
  for (const char* text : {"",
                           " ",
                           "soon",
                           "1.5",
                           "+5",
                           "5s",
                           " 5",
                           "5 ",
                           "0x10",
                           "1e3",
                           "5, 6",
                           "infinite-future",
                           "infinite-past",
                           "Sun, 06 Nov 1994 08:49:37",
                           "Sun, 06 Nov 1994 08:49:37 CET",
                           "Sun, 30 Feb 1994 08:49:37 GMT",
                           "Sun, 06 Nov 1994 25:49:37 GMT",
                           "Sun, 06 Xyz 1994 08:49:37 GMT",
                           "Sun, 06 Nov 1994 08:49:37 GMT x",
                           "1994-11-06T08:49:37Z"}) {
    EXPECT_EQ(RetryAfter(text, kExample - absl::Seconds(30)), absl::ZeroDuration()) << text;
  }
}

TEST(RetryAdvice, A40_RetryInfoInTheDetailsIsADelay) {
  EXPECT_EQ(Details({RetryInfo(3, 250'000'000)}), absl::Milliseconds(3'250));
  EXPECT_EQ(Details({OtherDetail("x"), OverloadInfo({}), RetryInfo(0, 1)}), absl::Nanoseconds(1));
}

// The bytes of google.rpc.RetryInfo, written down by hand from its field numbers.
TEST(RetryAdvice, A40_WireFormatIsGooglesRetryInfo) {
  google::protobuf::Any any;
  any.set_type_url("type.googleapis.com/google.rpc.RetryInfo");
  any.set_value(std::string("\x0a\x04\x08\x02\x10\x05", 6));
  EXPECT_EQ(Details({any}), absl::Seconds(2) + absl::Nanoseconds(5));
}

TEST(RetryAdvice, A40_DetailsThatSayNoDelayAreNothing) {
  google::protobuf::Any empty;
  empty.set_type_url("type.googleapis.com/google.rpc.RetryInfo");
  EXPECT_EQ(Details({empty}), absl::ZeroDuration());
  google::protobuf::Any broken = RetryInfo(5);
  broken.set_value("\x0a\x7f");
  EXPECT_EQ(Details({broken}), absl::ZeroDuration());
  google::protobuf::Any renamed = RetryInfo(5);
  renamed.set_type_url("type.googleapis.com/google.rpc.RetryInfos");
  EXPECT_EQ(Details({renamed}), absl::ZeroDuration());
  EXPECT_EQ(ParseAdvice({{"grpc-status-details-bin", "not base64!"}}), absl::ZeroDuration());
}

TEST(RetryAdvice, A40_TheLongestCounts) {
  EXPECT_EQ(Details({RetryInfo(2), RetryInfo(4), RetryInfo(3)}), absl::Seconds(4));
  EXPECT_EQ(ParseAdvice({{"retry-after", "1"}, {"retry-after", "3"}, {"retry-after", "2"}}),
            absl::Seconds(3));
  const std::string details = EncodeDetails(14, "m", {RetryInfo(5)});
  for (const auto& [after, longest] : {std::pair("4", 5), {"6", 6}, {"soon", 5}}) {
    EXPECT_EQ(ParseAdvice({{"grpc-status-details-bin", details}, {"retry-after", after}}),
              absl::Seconds(longest));
  }
}

TEST(RetryAdvice, A40_AYearIsStillSaidExactly) {
  EXPECT_EQ(RetryAfter("31536000"), absl::Hours(24 * 365));
}

TEST(RetryAdvice, A40_WhatIsBeyondAnySaneWaitIsInfinite) {
  for (const char* value : {"31536001", "9223372036854775807", "9223372036854775808",
                            "99999999999999999999999999", "Sun, 06 Nov 9994 08:49:37 GMT"}) {
    EXPECT_EQ(RetryAfter(value), absl::InfiniteDuration()) << value;
  }
  EXPECT_EQ(Details({RetryInfo(315'576'000'000)}), absl::InfiniteDuration());
  EXPECT_EQ(Details({RetryInfo(std::numeric_limits<int64_t>::max(), 999'999'999)}),
            absl::InfiniteDuration());
}

}  // namespace
}  // namespace levee
