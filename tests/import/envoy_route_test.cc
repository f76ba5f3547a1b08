// SPDX-License-Identifier: Apache-2.0
// What routes of Envoy become, in which order, and with which timeout.
#include <string>

#include "gmock/gmock.h"
#include "import/imported.h"

namespace levee {
namespace {

using testing::HasSubstr;
using testing::Not;

// A route without name or timeout.
std::string MatchedRoute(const std::string& match,
                         const std::string& action = "route: {cluster: a}") {
  return "{match: {" + match + "}, " + action + "}";
}

TEST(EnvoyMatch, PathsAreGlobs) {
  EXPECT_EQ(ValuesOf(FromEnvoy("[" + MatchedRoute("prefix: /shop.Cart/") + "," +
                               MatchedRoute("path: /a.A/M") + "," +
                               MatchedRoute("path_separated_prefix: /b.B") + "," +
                               MatchedRoute("prefix: /, grpc: {}") + "]"),
                     "routes"),
            "  - match: {method: \"/shop.Cart/*\"}\n    upstream: a\n    policy: a\n"
            "  - match: {method: \"/a.A/M\"}\n    upstream: a\n    policy: a\n"
            "  - match: {method: \"/b.B/*\"}\n    upstream: a\n    policy: a\n"
            "  - match: {method: \"/*\"}\n    upstream: a\n    policy: a\n");
  EXPECT_EQ(ValuesOf(FromEnvoy(MatchedRoute("prefix: \"\"")), "routes"),
            "  - upstream: a\n    policy: a\n");
}

// The attempts of a call, and its upstream.
std::string EnvoyCall(const std::string& text, const std::string& method,
                      const std::string& authority = "cart.shop") {
  return CallIn(FromEnvoy(text), authority, method);
}
std::string EnvoyCounts(const std::string& text) {
  return ImportEnvoy({{"f", text}}).routes.Format();
}

constexpr char kRetries[] =
    "route: {cluster: a, retry_policy: {retry_on: unavailable, num_retries: 3}}";

TEST(EnvoyMatch, ARouteForSomeOfTheCallsThatItNamesTriesThemOnce) {
  for (const char* condition :
       {"headers: [{name: x, string_match: {contains: y}}]",
        "headers: [{name: x, exact_match: y, invert_match: true}]", "dynamic_metadata: [{}]",
        "runtime_fraction: {}", "connect_matcher: {}", "safe_regex: {regex: '/[ab]/.*'}"}) {
    const std::string text = MatchedRoute(condition, kRetries);
    EXPECT_EQ(EnvoyCall(text, "/a/Get"), "a, 1 attempt") << condition;
    EXPECT_EQ(EnvoyCounts(text), "routes: 0 exact, 0 narrowed, 1 guarded, 0 refused") << condition;
  }
}

TEST(EnvoyMatch, HeadersAreThoseOfTheRoute) {
  const auto routes = [](const std::string& header) {
    return ValuesOf(FromEnvoy(MatchedRoute("prefix: \"\", headers: [{name: X-A, " + header + "}]")),
                    "routes");
  };
  const auto expected = [](const std::string& test) {
    return "  - match: {headers: [{name: x-a, " + test + "}]}\n    upstream: a\n    policy: a\n";
  };
  EXPECT_EQ(routes("exact_match: y"), expected("exact: y"));
  EXPECT_EQ(routes("string_match: {prefix: y}"), expected("prefix: y"));
  EXPECT_EQ(routes("string_match: {suffix: y}"), expected("suffix: y"));
  EXPECT_EQ(routes("string_match: {safe_regex: {google_re2: {}, regex: y+}}"),
            expected("regex: \"y+\""));
  EXPECT_EQ(routes("safe_regex_match: {regex: y+}"), expected("regex: \"y+\""));
  EXPECT_EQ(routes("present_match: true"), expected("present: true"));
  EXPECT_EQ(routes("present_match: false"), expected("present: false"));
  EXPECT_EQ(routes("present_match: true, invert_match: true"), expected("present: false"));
  const std::string text = "[" +
                           MatchedRoute("prefix: /, headers: [{name: x-a, exact_match: y}]",
                                        "direct_response: {status: 403}") +
                           "," + MatchedRoute("prefix: /", kRetries) + "]";
  EXPECT_EQ(CallIn(FromEnvoy(text), "cart.shop", "/a/Get", {{"x-a", "y"}}), "nowhere, 1 attempt");
  EXPECT_EQ(CallIn(FromEnvoy(text), "cart.shop", "/a/Get"), "a, 4 attempts");
}

TEST(EnvoyMatch, CallsThatCannotBeToldFromThoseOfAnotherClusterAreAFault) {
  EXPECT_EQ(
      FaultsOfEnvoy("[" + MatchedRoute("prefix: /a/, headers: [{name: x, contains_match: y}]") +
                    ",\n" + MatchedRoute("prefix: /", "route: {cluster: b}") + "]"),
      "f:1:2: [0]: the calls of this route cannot be told from others: the header \"x\" has "
      "no equivalent, and the route in line 2 leads some of them elsewhere");
}

TEST(EnvoyMatch, WhatNoGrpcCallHasMatchesNone) {
  for (const char* match :
       {"path: /a/*", "prefix: a", "prefix: /, query_parameters: [{name: q, present_match: true}]",
        "prefix: /, headers: [{name: ':method', exact_match: GET}]",
        "prefix: /, headers: [{name: content-type, string_match: {exact: text/html}}]"}) {
    const std::string text =
        "[" + MatchedRoute(match) + "," + MatchedRoute("prefix: /", "route: {cluster: b}") + "]";
    EXPECT_EQ(EnvoyCall(text, "/a/Get"), "b, 1 attempt") << match;
    EXPECT_EQ(EnvoyCounts(text), "routes: 2 exact, 0 narrowed, 0 guarded, 0 refused") << match;
  }
}

TEST(EnvoyMatch, WhatEveryGrpcCallHasIsNoCondition) {
  EXPECT_EQ(EnvoyCounts(MatchedRoute("prefix: /, headers: [{name: content-type, string_match: "
                                     "{prefix: application/grpc}}, {name: ':method', string_match: "
                                     "{exact: POST}}]")),
            "routes: 1 exact, 0 narrowed, 0 guarded, 0 refused");
}

TEST(EnvoyMatch, ARegularExpressionOfNamesIsTheirMethods) {
  const std::string text = MatchedRoute("safe_regex: {regex: '/shop\\.(Cart|Basket)/(Get.*|Put)'}");
  EXPECT_EQ(EnvoyCall(text, "/shop.Basket/GetItem"), "a, 1 attempt");
  EXPECT_EQ(EnvoyCall(text, "/shop.Basket/Putt"), "none");
  EXPECT_EQ(EnvoyCounts(text), "routes: 1 exact, 0 narrowed, 0 guarded, 0 refused");
}

TEST(EnvoyMatch, CaseThatDoesNotMatterIsAComment) {
  const std::string yaml = FromEnvoy(MatchedRoute("prefix: /a/, case_sensitive: false"));
  EXPECT_THAT(CommentsOf(yaml), HasSubstr("only methods spelled like this match"));
  EXPECT_THAT(ValuesOf(yaml, "routes"), HasSubstr("method: \"/a/*\""));
}

TEST(EnvoyRoute, ToSeveralClustersLeadsToTheOneWithTheMostCalls) {
  const std::string text =
      MatchedRoute("prefix: /",
                   "route: {weighted_clusters: {clusters: [{name: x, weight: 1}, {name: y, weight: "
                   "9}]}, retry_policy: {retry_on: unavailable}}");
  EXPECT_EQ(EnvoyCall(text, "/a/Get"), "y, 2 attempts");
  EXPECT_EQ(EnvoyCounts(text), "routes: 0 exact, 1 narrowed, 0 guarded, 0 refused");
}

TEST(EnvoyRoute, WhoseClusterACallChoosesIsAFault) {
  EXPECT_THAT(FaultsOfEnvoy(MatchedRoute("prefix: /", "route: {cluster_header: x-c}")),
              HasSubstr("where its calls go is not known: cluster_header has no equivalent"));
}

TEST(EnvoyRoute, ThatEnvoyAnswersItselfReachesNoService) {
  for (const char* answer : {"redirect: {host_redirect: b}", "direct_response: {status: 403}"}) {
    const std::string denied = MatchedRoute("prefix: /a/", answer);
    EXPECT_EQ(EnvoyCall(denied, "/a/Get"), "nowhere, 1 attempt") << answer;
    const std::string text = "[" + denied + "," + MatchedRoute("prefix: /", kRetries) + "]";
    EXPECT_EQ(EnvoyCall(text, "/a/Get"), "nowhere, 1 attempt") << answer;
    EXPECT_EQ(EnvoyCall(text, "/b/Get"), "a, 4 attempts") << answer;
    EXPECT_EQ(EnvoyCounts(text), "routes: 1 exact, 0 narrowed, 1 guarded, 0 refused") << answer;
  }
}

TEST(EnvoyRoute, ThatDeniesSomeCallsNeverLetsThemThrough) {
  EXPECT_THAT(FaultsOfEnvoy("[" +
                            MatchedRoute("prefix: /a/, headers: [{name: x, contains_match: y}]",
                                         "direct_response: {status: 403}") +
                            "," + MatchedRoute("prefix: /") + "]"),
              HasSubstr("calls that reach no service (direct_response) cannot be told from others, "
                        "since the header \"x\" has no equivalent"));
}

TEST(EnvoyRoute, ThatLeadsBrowsersElsewhereTakesNoCalls) {
  for (const char* match : {"path: /healthz",
                            "prefix: /, headers: [{name: ':method', exact_match: "
                            "GET}]"}) {
    const std::string text = "[" + MatchedRoute(match, "direct_response: {status: 200}") + "," +
                             MatchedRoute("prefix: /") + "]";
    EXPECT_EQ(EnvoyCounts(text), "routes: 2 exact, 0 narrowed, 0 guarded, 0 refused");
    EXPECT_THAT(FromEnvoy(text), Not(HasSubstr("nowhere")));
  }
}

TEST(EnvoyRoute, ThatIsRewrittenTriesItsCallsOnceAndKeepsItsTimeout) {
  const std::string text = MatchedRoute("prefix: /a/",
                                        "route: {cluster: a, timeout: 2s, prefix_rewrite: /b/, "
                                        "retry_policy: {retry_on: unavailable}}");
  EXPECT_EQ(EnvoyCall(text, "/a/Get"), "a, 1 attempt");
  EXPECT_THAT(ValuesOf(FromEnvoy(text), "policies"), HasSubstr("timeout: 2s\n"));
  EXPECT_EQ(EnvoyCounts(MatchedRoute("prefix: /a/", "route: {cluster: a, prefix_rewrite: /a/}")),
            "routes: 1 exact, 0 narrowed, 0 guarded, 0 refused");
}

TEST(EnvoyRoute, WhatIsNotReadIsAComment) {
  const std::string comments = CommentsOf(FromEnvoy(
      "{domains: [\"*\"], cors: {}, routes: [{name: r, match: {prefix: /}, tracing: {}, route: "
      "{cluster: a, host_rewrite_literal: x, idle_timeout: 1s}}]}"));
  EXPECT_THAT(comments, HasSubstr("Not read in the file: cors."));
  EXPECT_THAT(comments, HasSubstr("Not read in routes[0]: tracing."));
  EXPECT_THAT(comments,
              HasSubstr("Not read in routes[0].route: host_rewrite_literal, idle_timeout."));
}

TEST(EnvoyRoute, PoliciesOfOneNameThatDoTheSameAreOne) {
  EXPECT_EQ(ValuesOf(FromEnvoy("[{name: named, match: {prefix: /a/}, route: {cluster: a}},"
                               "{match: {prefix: /b/}, route: {cluster: b}},"
                               "{match: {prefix: /c/}, route: {cluster: b}},"
                               "{match: {prefix: /}, route: {cluster: b, timeout: 1s}}]"),
                     "policies"),
            "  - name: named\n    timeout: 15s\n    retry:\n      max_attempts: 1\n"
            "  - name: b\n    timeout: 15s\n    retry:\n      max_attempts: 1\n"
            "  - name: b-2\n    timeout: 1s\n    retry:\n      max_attempts: 1\n");
}

// The timeout of a route whose action has these fields, with its comments.
std::string TimeoutOf(const std::string& fields) {
  const std::string policies = SectionOf(
      FromEnvoy(MatchedRoute("prefix: /", "route: {cluster: a, " + fields + "}")), "policies");
  const std::string start = "  - name: a\n";
  const size_t end = policies.find("    retry:\n");
  return policies.substr(start.size(), end - start.size());
}

TEST(EnvoyTimeout, IsThePolicysTimeout) {
  EXPECT_EQ(TimeoutOf("timeout: 3s"), "    timeout: 3s\n");
  EXPECT_EQ(TimeoutOf("timeout: 0s"), "");
}

TEST(EnvoyTimeout, IsFifteenSecondsByDefault) {
  EXPECT_EQ(TimeoutOf("idle_timeout: 1s"),
            "    # Envoy's default for a route without timeout.\n"
            "    timeout: 15s\n");
}

TEST(EnvoyTimeout, OfAStreamBoundsTheCallToo) {
  EXPECT_EQ(TimeoutOf("timeout: 0s, max_stream_duration: {max_stream_duration: 20s}"),
            "    timeout: 20s\n");
  EXPECT_EQ(TimeoutOf("timeout: 0s, max_stream_duration: {grpc_timeout_header_max: 30s}"),
            "    # grpc_timeout_header_max bounds calls that have a timeout, Levee's bounds all.\n"
            "    timeout: 30s\n");
  EXPECT_EQ(TimeoutOf("timeout: 0s, max_stream_duration: {grpc_timeout_header_max: 0s}"), "");
  EXPECT_EQ(TimeoutOf("max_grpc_timeout: 5s"), "    timeout: 5s\n");
}

TEST(EnvoyTimeout, IsTheLeastOfSeveral) {
  EXPECT_EQ(TimeoutOf("timeout: 10s, max_stream_duration: {max_stream_duration: 20s}"),
            "    # The least of timeout (10s) and max_stream_duration (20s).\n"
            "    timeout: 10s\n");
}

// The routes of virtual hosts with these domains, as "authority method -> cluster".
TEST(EnvoyDomains, AreRoutesFromTheMostExactToTheLeast) {
  const std::string yaml = FromEnvoy(
      "virtual_hosts:\n"
      "- {name: x, domains: [\"*\"], routes: [{match: {prefix: /}, route: {cluster: x}}]}\n"
      "- {name: y, domains: [\"cart.*\", \"*.shop\"], "
      "routes: [{match: {prefix: /}, route: {cluster: y}}]}\n"
      "- {name: z, domains: [\"*.eu.shop\", \"cart.shop:50051\"], "
      "routes: [{match: {prefix: /}, route: {cluster: z}}]}\n");
  EXPECT_EQ(
      ValuesOf(yaml, "routes"),
      "  - match: {authority: \"cart.shop:50051\", method: \"/*\"}\n    upstream: z\n    policy: "
      "z\n"
      "  - match: {authority: \"*.eu.shop\", method: \"/*\"}\n    upstream: z\n    policy: z\n"
      "  - match: {authority: \"*.shop\", method: \"/*\"}\n    upstream: y\n    policy: y\n"
      "  - match: {authority: \"cart.*\", method: \"/*\"}\n    upstream: y\n    policy: y\n"
      "  - match: {method: \"/*\"}\n    upstream: x\n    policy: x\n");
}

TEST(EnvoyDomains, MatchAnyPortIfEnvoyIgnoresIt) {
  EXPECT_EQ(ValuesOf(FromEnvoy("{ignore_port_in_host_matching: true, virtual_hosts: [{domains: "
                               "[cart.shop], routes: [" +
                               MatchedRoute("prefix: /") + "]}]}"),
                     "routes"),
            "  - match: {authority: cart.shop, method: \"/*\"}\n    upstream: a\n    policy: a\n"
            "  - match: {authority: \"cart.shop:*\", method: \"/*\"}\n"
            "    upstream: a\n    policy: a\n");
}

TEST(EnvoyDomains, ThatMatchNoCallAreLeftOut) {
  const std::string yaml = FromEnvoy("{domains: [\"a*b\", \"*.*\", \"a/b\", ok], routes: [" +
                                     MatchedRoute("prefix: /") + "]}");
  for (const char* domain : {"a*b", "*.*", "a/b"}) {
    EXPECT_THAT(CommentsOf(yaml), HasSubstr(absl::StrCat("Left out: domain \"", domain,
                                                         "\", which matches no call")));
  }
  EXPECT_EQ(ValuesOf(yaml, "routes"),
            "  - match: {authority: ok, method: \"/*\"}\n    upstream: a\n    policy: a\n");
}

TEST(EnvoyDomains, ACallThatNoRouteOfItsDomainTakesReachesNoService) {
  const std::string text =
      "[{domains: [cart.shop], routes: [" + MatchedRoute("prefix: /a/", kRetries) +
      "]}, {domains: [\"*\"], routes: [" + MatchedRoute("prefix: /", "route: {cluster: b}") + "]}]";
  EXPECT_EQ(EnvoyCall(text, "/a/Get"), "a, 4 attempts");
  EXPECT_EQ(EnvoyCall(text, "/b/Get"), "nowhere, 1 attempt");
  EXPECT_EQ(EnvoyCall(text, "/b/Get", "other.shop"), "b, 1 attempt");
  EXPECT_THAT(CommentsOf(FromEnvoy(text)),
              HasSubstr("A call to cart.shop that none of its routes take has no route in Envoy. "
                        "Here it fails at once, and does not go on to the routes of *."));
  const std::string complete =
      FromEnvoy("[{domains: [cart.shop], routes: [" + MatchedRoute("prefix: /") +
                "]}, {domains: [\"*\"], routes: [" + MatchedRoute("prefix: /") + "]}]");
  EXPECT_THAT(complete, Not(HasSubstr("nowhere")));
}

TEST(EnvoyDomains, OfSeveralRouteConfigurationsComeTheMostExactFirst) {
  const std::string config =
      "virtual_hosts: [{domains: [\"*\"], routes: [" + MatchedRoute("prefix: /");
  const std::string yaml =
      FromEnvoy("[{" + config + "]}]}, {virtual_hosts: [{domains: [cart.shop], routes: [" +
                MatchedRoute("prefix: /") + "]}]}]");
  EXPECT_EQ(ValuesOf(yaml, "routes"),
            "  - match: {authority: cart.shop, method: \"/*\"}\n    upstream: a\n    policy: a\n"
            "  - match: {method: \"/*\"}\n    upstream: a\n    policy: a\n");
  EXPECT_THAT(CommentsOf(yaml), HasSubstr("There are several route configurations."));
}

TEST(EnvoyDomains, TimesRoutesAreBounded) {
  std::string domains, routes;
  for (int i = 0; i < 101; ++i) {
    absl::StrAppend(&domains, "d", i, ",");
    absl::StrAppend(&routes, MatchedRoute("prefix: /"), ",");
  }
  EXPECT_EQ(FaultsOfEnvoy("{domains: [" + domains + "],\nroutes: [" + routes + "]}"),
            "f:2:1: routes: more than 10000 routes, counted for each domain");
}

}  // namespace
}  // namespace levee
