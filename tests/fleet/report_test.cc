// SPDX-License-Identifier: Apache-2.0
// The sentences on a fleet, and a fleet as text, JSON and HTML.
#include "fleet/report.h"

#include <sstream>
#include <string>
#include <vector>

#include "fleet/fleet_fixture.h"
#include "fleet/report_html.h"
#include "fleet/report_json.h"
#include "fleet/report_text.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "yaml-cpp/yaml.h"

namespace levee::fleet {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

std::string FirstOf(const Report& report) { return Judge(report).front(); }

TEST(FleetVerdict, NamesTheApplicationThatRetriesInALoop) {
  const Report report = ReportOf(MiddleLoops());
  EXPECT_FALSE(report.ok());
  EXPECT_THAT(Judge(report),
              ElementsAre("orders multiplies the load: cart gets 3.00 attempts for each call, and "
                          "all of the retries are those of the application orders itself, in a "
                          "loop."));
}

TEST(FleetVerdict, TellsWhoseMostRetriesAre) {
  EXPECT_THAT(FirstOf(ReportOf({Calls("web", "cart", kOwn)})),
              HasSubstr("all of the retries are Levee's own, by the policy for cart in the sidecar "
                        "of web."));
  EXPECT_THAT(FirstOf(ReportOf({Calls(
                  "web", "cart", {.called = 100, .attempts = 200, .retries = 25, .hedges = 75})})),
              HasSubstr("75% of the retries are Levee's hedges, by the policy for cart"));
  EXPECT_THAT(FirstOf(ReportOf(
                  {Calls("web", "cart", {.called = 200, .attempts = 200, .app_header = 100})})),
              HasSubstr("the application web itself, which says so (grpc-previous-rpc-attempts)."));
  EXPECT_THAT(FirstOf(ReportOf({Serves("web", {.first = 100, .retries = 200})})),
              AllOf(StartsWith("Callers of web multiply the load: web gets 3.00 attempts"),
                    HasSubstr("those of callers outside this fleet.")));
}

TEST(FleetVerdict, ALoopThatNeverEndsIsTheWorst) {
  EXPECT_THAT(
      FirstOf(ReportOf({Calls("web", "cart", {.called = 50, .attempts = 50, .app_loop = 50})})),
      StartsWith("web multiplies the load: cart gets 50.00 attempts for each call"));
}

TEST(FleetVerdict, TheWorstLayerComesFirst) {
  const Figures worse = {.called = 100, .attempts = 400, .retries = 300};
  const auto sentences =
      Judge(ReportOf({Calls("web", "orders", kOwn), Calls("orders", "cart", worse)}));
  ASSERT_EQ(sentences.size(), 3u);
  EXPECT_THAT(sentences[0], StartsWith("orders multiplies the load: cart gets 4.00 attempts"));
  EXPECT_THAT(sentences[1], StartsWith("web multiplies the load: orders gets 3.00 attempts"));
  EXPECT_EQ(sentences[2],
            "Together the layers make up to 12.00 attempts at cart of one call: 3.00 from web to "
            "orders and 4.00 from orders to cart.");
}

TEST(FleetVerdict, ALayerWithinItsBudgetAddsNoSentence) {
  const Figures few = {.called = 100, .attempts = 105, .retries = 5};
  EXPECT_THAT(Judge(ReportOf({Calls("web", "orders", few), Calls("orders", "cart", kOwn)})),
              ElementsAre(StartsWith("orders multiplies the load")));
}

TEST(FleetVerdict, LayersWithinTheBoundMayExceedItTogether) {
  const Figures some = {.called = 100, .attempts = 140, .retries = 40};
  const Report report = ReportOf({Calls("web", "orders", some), Calls("orders", "cart", some)});
  EXPECT_FALSE(report.ok());
  EXPECT_THAT(Judge(report), ElementsAre(StartsWith("Together the layers make up to 1.96")));
}

TEST(FleetVerdict, IsCalmWithinTheBound) {
  const Figures few = {.called = 100, .attempts = 110, .retries = 10};
  const Report report = ReportOf({Calls("web", "orders", few)});
  EXPECT_TRUE(report.ok());
  EXPECT_THAT(Judge(report), ElementsAre("No layer multiplies the load: there are at most 1.10 "
                                         "attempts for each call, from web to orders."));
  EXPECT_THAT(FirstOf(ReportOf({Calls("web", "orders", {})})),
              "No call went through the sidecars in 5s.");
}

TEST(FleetVerdict, AHandfulOfRetriesIsNoFinding) {
  EXPECT_TRUE(ReportOf({Calls("web", "cart", {.called = 2, .attempts = 6, .retries = 4})}).ok());
}

TEST(FleetVerdict, TheBoundIsTheReaders) {
  Report report = ReportOf({Calls("web", "cart", kOwn)});
  report.bound = 3;
  EXPECT_TRUE(report.ok());
}

TEST(FleetVerdict, DoesNotBlameAnApplicationForRetriesOfItsCallers) {
  const Report report = ReportOf({Calls("web", "orders", kOwn),
                                  Calls("orders", "cart", kLoops, {.first = 100, .retries = 200})});
  EXPECT_THAT(Judge(report),
              ElementsAre(StartsWith("web multiplies the load: orders gets 3.00"),
                          "67% of the calls of orders to cart are there because callers of orders "
                          "retry."));
}

TEST(FleetVerdict, TellsWhichRetriesLeveeHeldBack) {
  const Figures held = {.called = 110, .attempts = 110, .app_loop = 10, .app_refused = 90};
  const Report report = ReportOf({Calls("orders", "cart", held)});
  EXPECT_TRUE(report.ok());
  EXPECT_THAT(Judge(report),
              ElementsAre(StartsWith("No layer multiplies"),
                          "The application orders retries its calls to cart itself, and Levee "
                          "refuses 90% of these retries."));
}

TEST(FleetVerdict, NamesSidecarsThatToldNothing) {
  Report report = ReportOf({Calls("web", "cart", kCalm)});
  report.unread = {{"cart", "10.0.0.2:9461", "Connection refused"},
                   {"10.0.0.3:9461", "10.0.0.3:9461", "no answer within 3s"}};
  EXPECT_FALSE(report.ok());
  EXPECT_THAT(Judge(report), ElementsAre(StartsWith("No layer multiplies"),
                                         "cart at 10.0.0.2:9461 was not read: Connection refused.",
                                         "10.0.0.3:9461 was not read: no answer within 3s."));
  EXPECT_FALSE(ReportOf({}).ok());
}

TEST(FleetText, DrawsTheCallGraphAsATree) {
  const std::string text = ReportText(ReportOf(MiddleLoops()));
  EXPECT_THAT(text, StartsWith("3 sidecars, 5s\n  - orders multiplies the load: "));
  EXPECT_THAT(
      text,
      HasSubstr(
          "\n                 per call  calls/s  sent/s  Levee  hedges  header  loop  above\n"
          "  web\n"
          "    -> orders        1.00     20.0    20.0      -       -       -     -      -\n"
          "      -> cart !      3.00     20.0    60.0      -       -       -  40.0      -\n"));
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 80u) << line;
}

TEST(FleetText, TellsTheTimeToATenthOfASecond) {
  Report report = ReportOf(MiddleLoops());
  report.seconds = 5.0349;
  EXPECT_THAT(ReportText(report), StartsWith("3 sidecars, 5s\n"));
  report.seconds = 1.95;
  EXPECT_THAT(ReportText(report), StartsWith("3 sidecars, 2s\n"));
}

TEST(FleetText, SinceTheStartItHasNumbersAndNotRates) {
  Report report = ReportOf(MiddleLoops());
  report.seconds = std::nullopt;
  EXPECT_THAT(ReportText(report), AllOf(StartsWith("3 sidecars, since their start\n"),
                                        HasSubstr("calls  sent"), HasSubstr("3.00    100   300")));
}

TEST(FleetText, ShowsWhatIsCalledTwiceOnceAndACircleOnce) {
  Sidecar web = Calls("web", "orders", kCalm);
  web.figures.upstreams["cart"] = kCalm;
  const std::string text =
      ReportText(ReportOf({web, Calls("orders", "cart", kCalm), Calls("cart", "orders", kCalm)}));
  EXPECT_THAT(text, HasSubstr("orders (above)"));
  EXPECT_THAT(text, HasSubstr("cart (above)"));
  const std::string circle =
      ReportText(ReportOf({Calls("one", "other", kCalm), Calls("other", "one", kCalm)}));
  EXPECT_THAT(circle, HasSubstr("\n  one\n    -> other"));
  EXPECT_THAT(circle, HasSubstr("-> one (above)"));
}

TEST(FleetText, ShowsCallersFromOutside) {
  EXPECT_THAT(ReportText(ReportOf({Serves("web", {.first = 100})})),
              HasSubstr("\n  web (from outside)      1.00"));
}

TEST(FleetJson, HasTheMembersThatProgramsReadBy) {
  Report report = ReportOf(MiddleLoops());
  report.unread = {{"stock", "10.0.0.9:1", "gone"}};
  const YAML::Node json = YAML::Load(ReportJson(report));
  EXPECT_FALSE(json["ok"].as<bool>());
  EXPECT_EQ(json["sentences"].size(), 2u);
  EXPECT_EQ(json["seconds"].as<double>(), 5);
  EXPECT_EQ(json["bound"].as<double>(), 1.5);
  EXPECT_EQ(json["nodes"][0]["name"].as<std::string>(), "cart");
  EXPECT_EQ(json["nodes"][0]["arrivals_first"].as<double>(), 300);
  const YAML::Node edge = json["edges"][0];
  EXPECT_EQ(edge["from"].as<std::string>(), "orders");
  EXPECT_EQ(edge["upstream"].as<std::string>(), "cart");
  EXPECT_EQ(edge["to"].as<std::string>(), "cart");
  EXPECT_TRUE(edge["multiplies"].as<bool>());
  EXPECT_EQ(edge["per_call"].as<double>(), 3);
  EXPECT_EQ(edge["calls"].as<double>(), 100);
  EXPECT_EQ(edge["app_retries_loop"].as<double>(), 200);
  EXPECT_EQ(json["unread"][0]["reason"].as<std::string>(), "gone");
}

TEST(FleetHtml, IsOneFileThatLoadsNothingAndDrawsTheGraph) {
  const std::string html = ReportHtml(ReportOf(MiddleLoops()));
  EXPECT_THAT(html, AllOf(HasSubstr("<svg "), HasSubstr(">orders</text>"),
                          HasSubstr(">3.00</text>"), HasSubstr("rect class=\"stuck\"")));
  for (const char* loads : {"src=", "url(", "@import", "<script", "http://", "https://"}) {
    EXPECT_THAT(html, Not(HasSubstr(loads)));
  }
}

TEST(FleetHtml, NamesCannotBecomeMarkup) {
  const std::string html = ReportHtml(ReportOf({Calls("<script>x", "<b>", kOwn)}));
  EXPECT_THAT(html, AllOf(Not(HasSubstr("<script")), Not(HasSubstr("<b>"))));
}

}  // namespace
}  // namespace levee::fleet
