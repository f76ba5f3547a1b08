// SPDX-License-Identifier: Apache-2.0
// Conditions of routes on headers, and routes that deny, as they are read and checked.
#include <string>

#include "config/faults_of.h"
#include "config/load.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace levee {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string WithHeaders(const std::string& headers) {
  return "routes: [{upstream: anywhere, match: {headers: [\n" + headers + "]}}]\n";
}

std::string WarningTexts(const std::string& text) {
  const CheckedConfig checked = CheckConfig({{"f", text}}, std::nullopt);
  EXPECT_EQ(FormatFaults(checked.faults), "");
  return FormatFaults(checked.warnings);
}

TEST(RouteHeaders, EachTestIsReadAndItsNameIsInLowerCase) {
  const auto snapshot = SnapshotOf(
      WithHeaders("{name: X-A, exact: '1'}, {name: b, prefix: p}, {name: c, suffix: s},\n"
                  "{name: d, regex: 'r+'}, {name: e, present: true}, {name: f, present: false}"));
  const std::vector<HeaderMatch>& headers = snapshot->routes.routes()[0].headers;
  ASSERT_EQ(headers.size(), 6u);
  EXPECT_EQ(headers[0].name, "x-a");
  EXPECT_EQ(headers[0].text, "1");
  EXPECT_EQ(headers[3].text, "r+");
  for (int i = 0; i < kHeaderTests; ++i) {
    EXPECT_EQ(headers[static_cast<size_t>(i)].test, static_cast<HeaderTest>(i));
  }
}

TEST(RouteHeaders, AHeaderHasOneTestAndARouteSixteenHeaders) {
  EXPECT_EQ(FaultsOf(WithHeaders("{name: a}")),
            "f:2:1: LV305 routes[0].match.headers[0]: says nothing of the header; give one of "
            "exact, prefix, suffix, regex, present");
  EXPECT_THAT(FaultsOf(WithHeaders("{name: a, exact: x, prefix: y}")),
              HasSubstr("LV304 routes[0].match.headers[0]"));
  EXPECT_THAT(FaultsOf(WithHeaders("{name: a, exact: x}, {name: A, prefix: y}")),
              HasSubstr("LV303 routes[0].match.headers[1].name"));
  EXPECT_EQ(FaultsOf(WithHeaders("{name: a, regex: 'x('}")),
            "f:2:18: LV225 routes[0].match.headers[0].regex: \"x(\" is no regular expression of "
            "RE2: missing ): x(");
  std::string many;
  for (int i = 0; i < 16; ++i) many += "{name: h" + std::to_string(i) + ", present: true},\n";
  EXPECT_EQ(FaultsOf(WithHeaders(many)), "");
  EXPECT_EQ(FaultsOf(WithHeaders(many + "{name: more, present: true}")),
            "f:18:1: LV201 routes[0].match.headers[16]: is one too many; a route has at most 16");
}

TEST(RouteHeaders, ARouteBehindOneThatAsksForHeadersIsReached) {
  const auto warnings = [](const std::string& first, const std::string& second) {
    return WarningTexts("routes:\n- {upstream: anywhere" + first + "}\n- {upstream: anywhere" +
                        second + "}\n");
  };
  const std::string gold = ", match: {headers: [{name: a, exact: gold}]}";
  const std::string present = ", match: {headers: [{name: a, present: true}]}";
  EXPECT_THAT(warnings(gold, ""), Not(HasSubstr("LV910")));
  EXPECT_THAT(warnings(gold, present), Not(HasSubstr("LV910")));
  EXPECT_THAT(warnings(gold, gold), HasSubstr("LV910 routes[1]"));
  EXPECT_THAT(warnings(present, gold), HasSubstr("LV910 routes[1]"));
  EXPECT_THAT(warnings("", gold), HasSubstr("LV910 routes[1]"));
}

TEST(RouteTimeout, IsADurationOrNone) {
  EXPECT_EQ(SnapshotOf("routes: [{upstream: anywhere, timeout: 2s}]\n")->routes.routes()[0].timeout,
            absl::Seconds(2));
  EXPECT_EQ(SnapshotOf("routes: [{upstream: anywhere}]\n")->routes.routes()[0].timeout,
            absl::InfiniteDuration());
  EXPECT_THAT(FaultsOf("routes: [{upstream: anywhere, timeout: 0s}]\n"), HasSubstr("LV201"));
}

TEST(RouteSplit, StandsInThePlaceOfAnUpstream) {
  const std::string upstreams =
      "upstreams: [{name: a, endpoints: [\"127.0.0.1:1\"]}, {name: b, endpoints: "
      "[\"127.0.0.1:2\"]}]\nroutes:\n";
  const auto faults = [&](const std::string& route) { return FaultsOf(upstreams + route + "\n"); };
  const auto snapshot =
      SnapshotOf(upstreams +
                 "- {split: [{upstream: b, weight: 5}, {upstream: a}], split_key: [header:X-A]}\n");
  const Route& route = snapshot->routes.routes()[0];
  ASSERT_EQ(route.split.size(), 2u);
  EXPECT_EQ(route.split[0].upstream, 1);
  EXPECT_EQ(route.split[0].weight, 5);
  EXPECT_EQ(route.split[1].weight, 1);
  EXPECT_EQ(route.split_key, std::vector<std::string>{"x-a"});
  EXPECT_THAT(faults("- {split: [{upstream: c}]}"),
              HasSubstr("f:3:23: LV301 routes[0].split[0].upstream: there is no upstream named"));
  EXPECT_THAT(faults("- {split: [{upstream: a}], upstream: b}"),
              HasSubstr("LV304 routes[0].split: excludes upstream"));
  EXPECT_THAT(faults("- {split: [{upstream: a, weight: 0}]}"), HasSubstr("LV332 routes[0].split"));
  EXPECT_THAT(faults("- {upstream: a, split_key: [header:x]}"), HasSubstr("LV305"));
  EXPECT_THAT(WarningTexts(upstreams + "- {split: [{upstream: a}, {upstream: b}]}\n"),
              Not(HasSubstr("LV911")));
}

std::string InboundRoutes(const std::string& routes) {
  return "listeners: [{name: in, address: \"127.0.0.1:1\", direction: inbound}]\n"
         "upstreams: [{name: app, endpoints: [\"127.0.0.1:2\"]}]\nroutes:\n" +
         routes + "policies: [{name: once, retry: {max_attempts: 1}}]\n";
}

TEST(RouteHeaders, AnAllowThatRestsOnAHeaderIsWarnedOf) {
  const std::string by_header =
      "- {match: {listener: in, headers: [{name: a, exact: x}]}, upstream: app, policy: once}\n";
  const std::string rest = "- {match: {listener: in}, upstream: app, policy: once}\n";
  const std::string deny = "- {match: {listener: in}, deny: true}\n";
  EXPECT_THAT(WarningTexts(InboundRoutes(by_header)),
              HasSubstr("f:4:26: LV938 routes[0].match.headers: warning: lets in whoever sends"));
  EXPECT_THAT(WarningTexts(InboundRoutes(by_header + deny)), HasSubstr("LV938 routes[0]"));
  EXPECT_THAT(WarningTexts(InboundRoutes(by_header + rest)), Not(HasSubstr("LV938")));
  EXPECT_THAT(WarningTexts(InboundRoutes(deny)), Not(HasSubstr("LV938")));
}

TEST(RouteDeny, StandsInThePlaceOfAnUpstreamOnInboundListeners) {
  EXPECT_EQ(FaultsOf(InboundRoutes("- {match: {listener: in}, deny: true}\n")), "");
  EXPECT_TRUE(SnapshotOf(InboundRoutes("- {match: {listener: in}, deny: true}\n"))
                  ->routes.routes()[0]
                  .deny);
  EXPECT_THAT(FaultsOf(InboundRoutes("- {match: {listener: in}, deny: true, upstream: app}\n")),
              HasSubstr("f:4:33: LV304 routes[0].deny: excludes upstream"));
  EXPECT_THAT(FaultsOf(InboundRoutes("- {match: {listener: in}, deny: true, policy: once}\n")),
              HasSubstr("LV304 routes[0].deny: excludes policy"));
  EXPECT_EQ(FaultsOf(InboundRoutes("- {match: {listener: in}, deny: false, upstream: app, "
                                   "policy: once}\n")),
            "");
  EXPECT_THAT(FaultsOf(InboundRoutes("- {match: {listener: in}, deny: false}\n")),
              HasSubstr("LV110 routes[0].upstream: is missing"));
  EXPECT_THAT(FaultsOf("routes: [{deny: true}]\n"),
              HasSubstr("f:1:17: LV331 routes[0].deny: this route takes the application's own"));
}

TEST(RouteDeny, ByPeerWantsAListenerThatAsksForCertificates) {
  EXPECT_THAT(FaultsOf(InboundRoutes("- {match: {listener: in, peer: x}, deny: true}\n")),
              HasSubstr("f:4:32: LV321 routes[0].match.peer: matches no call"));
}

}  // namespace
}  // namespace levee
