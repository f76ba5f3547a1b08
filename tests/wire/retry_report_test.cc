// SPDX-License-Identifier: Apache-2.0
#include "wire/retry_report.h"

#include "gtest/gtest.h"

namespace levee {
namespace {

TEST(RetryReport, ReadsWhatItWrites) {
  const RetryReport report{.attempts = {920, 60, 15, 2}, .refused = 310};
  EXPECT_EQ(RetryReportText(report), "a0=920, a1=60, a2=15, a3=2, refused=310");
  EXPECT_EQ(ParseRetryReport(RetryReportText(report)), report);
}

TEST(RetryReport, CountsAllFurtherAttemptsTogetherAndLeavesOutWhatItDoesNotKnow) {
  EXPECT_EQ(ParseRetryReport("a0=5,a3=1 ,\ta4=2, a17=3;x, more=\"a, b\", b, c;d=1"),
            (RetryReport{.attempts = {5, 0, 0, 6}}));
  EXPECT_EQ(ParseRetryReport("refused=7"), (RetryReport{.refused = 7}));
}

TEST(RetryReport, MalformedTextIsNone) {
  for (const char* text :
       {"", "a0", "a0=", "a0=x", "a0=-1", "a0=1.5", "a0=1,", ",a0=1", "a0=1 a1=2", "A0=1", "a0=1;",
        "refused=?1", "a0=1234567890123456", "a0=(1 2)"}) {
    EXPECT_FALSE(ParseRetryReport(text).has_value()) << text;
  }
  EXPECT_FALSE(ParseRetryReport("a0=1, x=\"" + std::string(1000, 'x') + "\"").has_value());
}

TEST(RetryReport, CountsForABillionAtMostSoThatNoSumOverflows) {
  const std::string many = "a1=999999999999999";
  std::string text = "refused=7, " + many;
  while (text.size() + many.size() < 500) text += "," + many;
  const auto report = ParseRetryReport(text);
  ASSERT_TRUE(report.has_value());
  EXPECT_EQ(*report, (RetryReport{.attempts = {0, 1'000'000'000}, .refused = 7}));
}

TEST(RetryReport, TheShareOfRetriesIsOfAllThatWasWanted) {
  EXPECT_EQ(WantedShare({}), 0);
  EXPECT_EQ(WantedShare({.attempts = {90, 0, 0, 0}}), 0);
  EXPECT_EQ(WantedShare({.attempts = {60, 10, 5, 5}, .refused = 20}), 0.4);
}

}  // namespace
}  // namespace levee
