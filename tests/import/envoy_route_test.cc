// SPDX-License-Identifier: Apache-2.0
// Which routes of Envoy become routes, in which order, with which timeout, and which are left out.
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
  EXPECT_EQ(
      ValuesOf(
          FromEnvoy("[" + MatchedRoute("prefix: /shop.Cart/") + "," + MatchedRoute("path: /a.A/M") +
                    "," + MatchedRoute("path_separated_prefix: /b.B") + "," +
                    MatchedRoute("prefix: /, grpc: {}") + "," + MatchedRoute("prefix: \"\"") + "]"),
          "routes"),
      "  - match: {method: \"/shop.Cart/*\"}\n    upstream: a\n    policy: a\n"
      "  - match: {method: \"/a.A/M\"}\n    upstream: a\n    policy: a\n"
      "  - match: {method: \"/b.B/*\"}\n    upstream: a\n    policy: a\n"
      "  - match: {method: \"/*\"}\n    upstream: a\n    policy: a\n"
      "  - upstream: a\n    policy: a\n");
}

TEST(EnvoyMatch, MoreThanAPathIsLeftOutWithAComment) {
  for (const char* condition :
       {"headers", "query_parameters", "dynamic_metadata", "runtime_fraction", "connect_matcher"}) {
    EXPECT_THAT(
        SectionOf(FromEnvoy(MatchedRoute(absl::StrCat("prefix: /a/, ", condition, ": [x]"))),
                  "routes"),
        HasSubstr(absl::StrCat("  # Left out, since this has no equivalent: ", condition,
                               ". Its calls go on to the routes below.\n"
                               "  # - match: {method: \"/a/*\"}\n"
                               "  #   upstream: a\n"
                               "  #   policy: a\n")))
        << condition;
  }
}

TEST(EnvoyMatch, PathsThatAreNoGlobsAreLeftOut) {
  EXPECT_THAT(CommentsOf(FromEnvoy(MatchedRoute("safe_regex: {regex: \"/a\\\\..*\"}"))),
              HasSubstr("Left out, since this has no equivalent: safe_regex \"/a\\\\..*\"."));
  EXPECT_THAT(CommentsOf(FromEnvoy(MatchedRoute("path: /a/*"))),
              HasSubstr("Left out, since this has no equivalent: the path \"/a/*\"."));
  EXPECT_THAT(CommentsOf(FromEnvoy(MatchedRoute("prefix: a"))),
              HasSubstr("Left out, since this has no equivalent: the path \"a\"."));
}

TEST(EnvoyMatch, CaseThatDoesNotMatterIsAComment) {
  const std::string yaml = FromEnvoy(MatchedRoute("prefix: /a/, case_sensitive: false"));
  EXPECT_THAT(CommentsOf(yaml), HasSubstr("only methods spelled like this match"));
  EXPECT_THAT(ValuesOf(yaml, "routes"), HasSubstr("method: \"/a/*\""));
}

TEST(EnvoyRoute, WhenNoneIsLeftCallsGoOnWithoutRetries) {
  const std::string yaml = FromEnvoy(MatchedRoute("prefix: /, headers: [{name: x}]"));
  EXPECT_EQ(ValuesOf(yaml, "routes"), "  - upstream: anywhere\n    policy: no-retries\n");
  EXPECT_THAT(ValuesOf(yaml, "policies"), HasSubstr("  - name: no-retries\n"
                                                    "    retry:\n"
                                                    "      max_attempts: 1\n"));
}

TEST(EnvoyRoute, ThatLeadsToSeveralClustersOrToNoneIsLeftOut) {
  EXPECT_THAT(
      FromEnvoy(MatchedRoute(
          "prefix: /a/",
          "route: {weighted_clusters: {clusters: [{name: x, weight: 1}, {name: y}]}}")),
      HasSubstr("  # Left out, since this has no equivalent: weighted_clusters (\"x\", \"y\"). Its "
                "calls go "
                "on to the\n"
                "  # routes below.\n"
                "  # - match: {method: \"/a/*\"}\n"
                "  #   upstream: x\n"
                "  #   policy: x\n"));
  EXPECT_THAT(CommentsOf(FromEnvoy(MatchedRoute("prefix: /", "route: {cluster_header: x-c}"))),
              HasSubstr("Left out, since this has no equivalent: cluster_header."));
  for (const char* answer : {"redirect", "direct_response"}) {
    const std::string yaml =
        FromEnvoy(MatchedRoute("prefix: /", absl::StrCat(answer, ": {status: 404}")));
    EXPECT_THAT(CommentsOf(yaml),
                HasSubstr(absl::StrCat("Left out, since this has no equivalent: ", answer, ".")));
    EXPECT_THAT(yaml, Not(HasSubstr("# - match")));
  }
}

TEST(EnvoyRoute, WhatIsNotReadIsAComment) {
  const std::string comments = CommentsOf(FromEnvoy(
      "{domains: [\"*\"], cors: {}, routes: [{name: r, match: {prefix: /}, tracing: {}, route: "
      "{cluster: a, prefix_rewrite: /x, idle_timeout: 1s}}]}"));
  EXPECT_THAT(comments, HasSubstr("Not read in the file: cors."));
  EXPECT_THAT(comments, HasSubstr("Not read in routes[0]: tracing."));
  EXPECT_THAT(comments, HasSubstr("Not read in routes[0].route: prefix_rewrite, idle_timeout."));
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

TEST(EnvoyDomains, CallsThatWouldHaveNoRouteInEnvoyAreToldOf) {
  const std::string yaml =
      FromEnvoy("[{domains: [cart.shop], routes: [" + MatchedRoute("prefix: /a/") +
                "]}, {domains: [\"*\"], routes: [" + MatchedRoute("prefix: /") + "]}]");
  EXPECT_THAT(CommentsOf(yaml),
              HasSubstr("A call to cart.shop that none of its routes match has no "
                        "route in Envoy; here it goes on to those of *."));
  const std::string complete =
      FromEnvoy("[{domains: [cart.shop], routes: [" + MatchedRoute("prefix: /") +
                "]}, {domains: [\"*\"], routes: [" + MatchedRoute("prefix: /") + "]}]");
  EXPECT_THAT(CommentsOf(complete), Not(HasSubstr("has no route in Envoy")));
}

TEST(EnvoyDomains, OfSeveralRouteConfigurationsKeepTheirOrder) {
  const std::string config =
      "virtual_hosts: [{domains: [\"*\"], routes: [" + MatchedRoute("prefix: /");
  const std::string yaml =
      FromEnvoy("[{" + config + "]}]}, {virtual_hosts: [{domains: [cart.shop], routes: [" +
                MatchedRoute("prefix: /") + "]}]}]");
  EXPECT_EQ(ValuesOf(yaml, "routes"),
            "  - match: {method: \"/*\"}\n    upstream: a\n    policy: a\n"
            "  - match: {authority: cart.shop, method: \"/*\"}\n    upstream: a\n    policy: a\n");
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
