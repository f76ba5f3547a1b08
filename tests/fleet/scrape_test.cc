// SPDX-License-Identifier: Apache-2.0
#include "fleet/scrape.h"

#include <string>

#include "fleet/figures.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace levee::fleet {
namespace {

using testing::HasSubstr;

constexpr char kScraped[] =
    "levee_build_info{version=\"1\"} 1\nprocess_start_time_seconds 100\n"
    "levee_call_attempts_count{upstream=\"cart\",method=\"a\",result=\"ok\"} 7\n"
    "levee_call_attempts_count{upstream=\"cart\",method=\"b\",result=\"error\"} 3\n"
    "levee_attempts_total{upstream=\"cart\",method=\"a\",code=\"OK\"} 18\n"
    "levee_retries_total{upstream=\"cart\",method=\"a\",trigger=\"status\",code=\"OK\"} 4\n"
    "levee_retries_total{upstream=\"cart\",method=\"a\",trigger=\"hedge\",code=\"OK\"} 5\n"
    "levee_app_retries_total{upstream=\"cart\",action=\"admitted\",seen_by=\"header\"} 2\n"
    "levee_app_retries_total{upstream=\"cart\",action=\"admitted\",seen_by=\"loop\"} 3\n"
    "levee_app_retries_total{upstream=\"cart\",action=\"refused\",seen_by=\"loop\"} 6\n"
    "levee_call_attempts_count{upstream=\"app\",method=\"a\",result=\"ok\"} 20\n"
    "levee_guard_arrivals_total{upstream=\"app\",attempt=\"0\"} 15\n"
    "levee_guard_arrivals_total{upstream=\"app\",attempt=\"1\"} 4\n"
    "levee_guard_arrivals_total{upstream=\"app\",attempt=\"3+\"} 1\n";

TEST(Scrapes, TellCallsAttemptsAndWhoseRetriesTheyAre) {
  const auto scrape = ReadScrape(kScraped);
  ASSERT_TRUE(scrape.ok());
  ASSERT_EQ(scrape->figures.upstreams.size(), 1u);
  const Figures& cart = scrape->figures.upstreams.at("cart");
  EXPECT_EQ(cart.called, 10);
  EXPECT_EQ(cart.attempts, 18);
  EXPECT_EQ(cart.retries, 4);
  EXPECT_EQ(cart.hedges, 5);
  EXPECT_EQ(cart.app_header, 2);
  EXPECT_EQ(cart.app_loop, 3);
  EXPECT_EQ(cart.app_refused, 6);
  EXPECT_EQ(cart.Asked(), 5);
  EXPECT_EQ(cart.PerCall(), 18.0 / 5);
}

TEST(Scrapes, PartsOfCallsAsPrometheusFindsThemHaveOneAttemptEach) {
  EXPECT_EQ((Figures{.called = 0.5, .attempts = 0.5}.PerCall()), 1);
}

TEST(Scrapes, AGuardedUpstreamIsTheApplicationItself) {
  const auto scrape = ReadScrape(kScraped);
  ASSERT_TRUE(scrape.ok());
  ASSERT_EQ(scrape->figures.served.size(), 1u);
  EXPECT_EQ(scrape->figures.served.at("app").first, 15);
  EXPECT_EQ(scrape->figures.served.at("app").retries, 5);
}

TEST(Scrapes, AnAnswerOfAnotherProgramIsNone) {
  EXPECT_EQ(ReadScrape("process_start_time_seconds 100\n").status().message(),
            "the answer has no metrics of Levee");
}

TEST(Scrapes, TheirDifferenceIsWhatHappenedBetweenThem) {
  Scrape before{.process_start = 1}, after{.process_start = 1};
  before.figures.upstreams["cart"] = {.called = 10, .attempts = 12};
  after.figures.upstreams["cart"] = {.called = 30, .attempts = 52};
  after.figures.upstreams["late"] = {.called = 4, .attempts = 4};
  before.figures.served["app"] = {.first = 5, .retries = 1};
  after.figures.served["app"] = {.first = 8, .retries = 3};
  const auto between = Between(before, after);
  ASSERT_TRUE(between.ok());
  EXPECT_EQ(between->upstreams.at("cart").called, 20);
  EXPECT_EQ(between->upstreams.at("cart").attempts, 40);
  EXPECT_EQ(between->upstreams.at("late").called, 4);
  EXPECT_EQ(between->served.at("app").first, 3);
  EXPECT_EQ(between->served.at("app").retries, 2);
}

TEST(Scrapes, OfTwoProcessesHaveNoDifference) {
  EXPECT_THAT(std::string(Between({.process_start = 1}, {.process_start = 2}).status().message()),
              HasSubstr("restarted meanwhile"));
}

}  // namespace
}  // namespace levee::fleet
