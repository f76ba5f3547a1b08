// SPDX-License-Identifier: Apache-2.0
// An explanation as text, as JSON and as HTML.
#include <sstream>
#include <string>

#include "gmock/gmock.h"
#include "lab/explain_html.h"
#include "lab/explain_json.h"
#include "lab/explain_text.h"
#include "lab/html_text.h"
#include "lab/lab_fixture.h"
#include "lab/words.h"
#include "yaml-cpp/yaml.h"

namespace levee {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr char kEthernet[] =
    "policies: [{name: default, retry: {max_attempts: 16, backoff: {preset: ethernet}}}]\n";

TEST(ExplanationText, HasTheTableAndThePlotOfTheDelays) {
  const std::string text = ExplanationText(ExplanationOf(
      "policies: [{name: default, retry: {backoff: {initial: 100ms, jitter: equal}}}]\n"));
  EXPECT_THAT(text,
              HasSubstr("  n  nominal          bounds   mean    p50     p99  cumulative p99\n"
                        "  1    100ms   50ms to 100ms   75ms   75ms  99.5ms          99.5ms\n"
                        "  2    200ms  100ms to 200ms  150ms  150ms   199ms           290ms\n"));
  EXPECT_THAT(text, HasSubstr("    1             ------o----|\n"
                              "    2                         -----------o-----------|\n"));
}

TEST(ExplanationText, TellsSlotsBothInSlotsAndInTime) {
  const std::string text = ExplanationText(ExplanationOf(kEthernet));
  EXPECT_THAT(text, HasSubstr("   n  mean slots  nominal      bounds"));
  EXPECT_THAT(text, HasSubstr("\n  10       511.5  26.19ms  0s to 53ms"));
  EXPECT_THAT(text, HasSubstr("after attempt 16 the call is given up"));
}

TEST(ExplanationText, FitsATerminalOf80Columns) {
  std::istringstream text(ExplanationText(ExplanationOf(kEthernet)));
  for (std::string line; std::getline(text, line);) EXPECT_LE(line.size(), 80u) << line;
}

TEST(ExplanationText, OneLongValueDoesNotMoveTheOthersToTheRight) {
  const std::string text = ExplanationText(ExplanationOf(
      "policies: [{name: default, retry: {codes: [UNAVAILABLE, RESOURCE_EXHAUSTED, ABORTED]}}]\n"));
  EXPECT_THAT(text, HasSubstr("  [UNAVAILABLE, RESOURCE_EXHAUSTED, ABORTED]  f:1\n"));
  EXPECT_THAT(text, HasSubstr("  timeout                         none                default\n"));
}

TEST(ExplanationJson, HasTheMembersThatProgramsReadBy) {
  const YAML::Node json = YAML::Load(ExplanationJson(ExplanationOf(kEthernet)));
  EXPECT_EQ(json["route"].as<std::string>(), "routes[0]");
  EXPECT_EQ(json["policy"].as<std::string>(), "default");
  EXPECT_EQ(json["values"][0]["path"].as<std::string>(), "name");
  EXPECT_EQ(json["values"][0]["value"].as<std::string>(), "default");
  EXPECT_EQ(json["values"][0]["from"].as<std::string>(), "f:1");
  ASSERT_EQ(json["retries"].size(), 15u);
  const YAML::Node tenth = json["retries"][9];
  EXPECT_EQ(tenth["n"].as<int>(), 10);
  EXPECT_NEAR(tenth["nominal_ms"].as<double>(), 511.5 * 0.0512, 1e-6);
  EXPECT_EQ(tenth["mean_slots"].as<double>(), 511.5);
  EXPECT_EQ(tenth["min_ms"].as<double>(), 0);
  EXPECT_EQ(tenth["max_ms"].as<double>(), 53);
  for (const char* figure : {"mean_ms", "p50_ms", "p99_ms", "cumulative_p99_ms"}) {
    EXPECT_GT(tenth[figure].as<double>(), 0) << figure;
  }
  EXPECT_GT(json["sentences"].size(), 3u);
  EXPECT_EQ(json["outage"].size(), 4u);
}

TEST(ExplanationJson, OfACallWithoutARouteItIsNull) {
  const std::string json =
      ExplanationJson(ExplanationOf("upstreams: [{name: a, endpoints: [\"10.0.0.1:1\"]}]\n"
                                    "routes: [{match: {method: \"/a/*\"}, upstream: a}]\n",
                                    {.method = "b/c"}));
  EXPECT_THAT(json, HasSubstr("\"route\": null,"));
  EXPECT_THAT(json, HasSubstr("does not match \\\"/b/c\\\""));
}

TEST(ExplanationHtml, IsOneFileThatLoadsNothing) {
  const std::string html = ExplanationHtml(ExplanationOf(kEthernet));
  EXPECT_THAT(html, HasSubstr("<svg "));
  EXPECT_THAT(html, HasSubstr("prefers-color-scheme: dark"));
  for (const char* loads : {"src=", "url(", "@import", "<script", "http://", "https://"}) {
    EXPECT_THAT(html, Not(HasSubstr(loads)));
  }
}

TEST(ExplanationHtml, FactsOfTheCallCannotBecomeMarkup) {
  const std::string html =
      ExplanationHtml(ExplanationOf("", {.authority = "<script>alert('1')</script>"}));
  EXPECT_THAT(html, Not(HasSubstr("<script")));
  EXPECT_THAT(html, HasSubstr("&lt;script&gt;"));
}

TEST(Words, NumbersHaveTheirUnitAndNoMoreDigitsThanNeeded) {
  EXPECT_EQ(DurationWords(absl::Nanoseconds(51'200)), "51.2us");
  EXPECT_EQ(DurationWords(absl::Milliseconds(1750)), "1.75s");
  EXPECT_EQ(DurationWords(absl::Seconds(1) - absl::Nanoseconds(1)), "1s");
  EXPECT_EQ(DurationWords(absl::Seconds(100)), "1m40s");
  EXPECT_EQ(DurationWords(absl::InfiniteDuration()), "none");
  EXPECT_EQ(PercentWords(0.3149), "31%");
  EXPECT_EQ(PercentWords(0.0042), "0.42%");
  EXPECT_EQ(PercentWords(0.00001), "less than 0.01%");
  EXPECT_EQ(PercentWords(0.99999), "more than 99.99%");
  EXPECT_EQ(ListWords({"a", "b", "c"}), "a, b and c");
}

}  // namespace
}  // namespace levee
