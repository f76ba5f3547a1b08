// SPDX-License-Identifier: Apache-2.0
// Where in an Envoy configuration policies are found, and what is told of the rest.
#include <string>

#include "gmock/gmock.h"
#include "import/imported.h"

namespace levee {
namespace {

using testing::HasSubstr;

constexpr char kHost[] =
    "{name: shop, domains: [\"*\"], routes: [{match: {prefix: /}, route: {cluster: a}}]}";
constexpr char kRoute[] = "  - match: {method: \"/*\"}\n    upstream: a\n    policy: a\n";

TEST(EnvoyParts, VirtualHostsAreFoundWhereverTheyAre) {
  const std::string hosts = absl::StrCat("{name: r, virtual_hosts: [", kHost, "]}");
  for (const std::string& text :
       {std::string(kHost), "[" + std::string(kHost) + "]", hosts, "{route_config: " + hosts + "}",
        "{resources: [" + hosts + "]}",
        "{static_resources: {listeners: [{filter_chains: [{filters: [{typed_config: "
        "{route_config: " +
            hosts + "}}]}]}]}}",
        "{configs: [{dynamic_route_configs: [{version_info: x, route_config: " + hosts + "}]}]}"}) {
    EXPECT_EQ(ValuesOf(FromEnvoy(text), "routes"), kRoute) << text;
  }
}

TEST(EnvoyParts, RoutesMayStandAlone) {
  for (const char* text :
       {"{match: {prefix: /}, route: {cluster: a}}", "[{match: {prefix: /}, route: {cluster: a}}]",
        "{routes: [{match: {prefix: /}, route: {cluster: a}}]}"}) {
    EXPECT_EQ(ValuesOf(FromEnvoy(text), "routes"), kRoute) << text;
  }
}

TEST(EnvoyParts, ClustersAreFoundWhereverTheyAre) {
  const std::string cluster = "{name: a, connect_timeout: 2s}";
  for (const std::string& text :
       {cluster, "[" + cluster + "]", "{clusters: [" + cluster + "]}",
        "{static_resources: {clusters: [" + cluster + "]}}",
        "{configs: [{static_clusters: [{cluster: " + cluster + ", last_updated: x}]}]}"}) {
    EXPECT_THAT(FromEnvoy(text), HasSubstr("    connect_timeout: 2s\n")) << text;
  }
}

TEST(EnvoyParts, JsonNamesAreKnownToo) {
  EXPECT_THAT(ValuesOf(FromEnvoy("[{\"name\": \"r\", \"virtualHosts\": [{\"domains\": [\"*\"], "
                                 "\"retryPolicy\": {\"retryOn\": \"unavailable\", \"numRetries\": "
                                 "2}, \"routes\": [{\"match\": {\"prefix\": \"/\"}, \"route\": "
                                 "{\"cluster\": \"a\", \"timeout\": \"0s\"}}]}]}]"),
                       "policies"),
              HasSubstr("      max_attempts: 3\n      codes: [UNAVAILABLE]\n"));
}

TEST(EnvoyParts, WhatIsNotReadIsToldOnce) {
  EXPECT_THAT(CommentsOf(FromEnvoy(absl::StrCat(
                  "{node: {id: x}, name: b, dynamic_resources: {lds_config: {ads: {}}}, listeners: "
                  "[{address: {}, stat_prefix: s, route_config: {virtual_hosts: [",
                  kHost, "], vhds: {}}}, {address: {}}]}"))),
              HasSubstr("Not read: listeners[0].address, listeners[1], node, dynamic_resources."));
}

TEST(EnvoyParts, WhatHasNothingToImportIsAFault) {
  const std::string nothing =
      "has nothing to import: no virtual hosts, routes, clusters, retry policy or local rate limit";
  EXPECT_EQ(FaultsOfEnvoy("{admin: {address: 1}}"), "f:1:1: " + nothing);
  EXPECT_EQ(FaultsOfEnvoy("hello"), "f:1:1: " + nothing);
  EXPECT_EQ(FaultsOfEnvoy("[1, 2]"), "f:1:1: " + nothing);
  // The retry policies of other parts are no routes'.
  EXPECT_EQ(FaultsOfEnvoy("{grpc_service: {envoy_grpc: {retry_policy: {num_retries: 1}}}}"),
            "f:1:1: " + nothing);
}

TEST(EnvoyParts, WhatIsNoYamlIsAFaultWithItsPosition) {
  EXPECT_EQ(FaultsOfEnvoy("routes:\n  - match: [\n"),
            "f:3:1: LV101 this is not YAML: end of sequence flow not found; check the "
            "indentation, brackets and quotes up to here");
  EXPECT_EQ(FaultsOfEnvoy(""), "f: is empty");
  EXPECT_EQ(FaultsOfEnvoy("{routes: [1]}"), "f:1:11: routes[0]: is \"1\"; write a mapping");
  EXPECT_EQ(FaultsOfEnvoy("virtual_hosts: {}\n"),
            "f:1:1: virtual_hosts: is a mapping; write a list");
}

TEST(EnvoyParts, AnAliasToItsOwnParentIsAFault) {
  EXPECT_THAT(FaultsOfEnvoy("{a: &a {b: *a}}"), HasSubstr("is nested too deeply"));
  EXPECT_THAT(FaultsOfEnvoy("&a [*a]"), HasSubstr("is nested too deeply"));
}

TEST(EnvoyParts, AliasesThatGrowAreAFault) {
  std::string text = "a0: &a0 [{x: 1}, {x: 1}, {x: 1}, {x: 1}, {x: 1}, {x: 1}, {x: 1}, {x: 1}]\n";
  for (int i = 1; i < 10; ++i) {
    absl::StrAppend(&text, "a", i, ": &a", i, " [");
    for (int j = 0; j < 8; ++j) absl::StrAppend(&text, j > 0 ? ", " : "", "*a", i - 1);
    absl::StrAppend(&text, "]\n");
  }
  EXPECT_THAT(FaultsOfEnvoy(text), HasSubstr("more than 1000000 values, aliases included"));
}

constexpr char kRoutes[] =
    "virtual_hosts: [{name: v, domains: [cart], routes: [{match: {prefix: /}, route: {cluster: "
    "c}}]}]\n";
constexpr char kClusters[] =
    "clusters: [{name: c, load_assignment: {endpoints: [{lb_endpoints: [{endpoint: {address: "
    "{socket_address: {address: 10.0.0.1, port_value: 80}}}}]}]}}]\n";

TEST(EnvoyFiles, RoutesOfOneLeadToTheClustersOfAnother) {
  const std::string yaml = Checked(ImportEnvoy({{"routes", kRoutes}, {"clusters", kClusters}}));
  EXPECT_EQ(yaml, Checked(ImportEnvoy({{"clusters", kClusters}, {"routes", kRoutes}})));
  EXPECT_EQ(ValuesOf(yaml, "upstreams"),
            "  - name: c\n    endpoints: [\"10.0.0.1:80\"]\n    connect_timeout: 5s\n");
  EXPECT_THAT(ValuesOf(yaml, "routes"), HasSubstr("upstream: c\n"));
}

TEST(EnvoyFiles, OneThatHasNothingToImportIsAFault) {
  EXPECT_EQ(FormatFaults(ImportEnvoy({{"routes", kRoutes}, {"other", "a: b\n"}}).faults),
            "other:1:1: has nothing to import: no virtual hosts, routes, clusters, retry policy or "
            "local rate limit");
}

TEST(EnvoyParts, ARouteConfigurationThatADumpHasTwiceIsOne) {
  const std::string config =
      "{name: local, virtual_hosts: [{domains: ['*'], routes: [{match: {prefix: /}, route: "
      "{cluster: "
      "a, retry_policy: {retry_on: unavailable}}}]}]}";
  const std::string once = FromEnvoy("{static_route_configs: [{route_config: " + config + "}]}");
  const std::string twice = FromEnvoy("{bootstrap: {route_config: " + config +
                                      "}, static_route_configs: [{route_config: " + config + "}]}");
  EXPECT_EQ(ValuesOf(once, "routes"),
            "  - match: {method: \"/*\"}\n    upstream: a\n    policy: a\n");
  EXPECT_EQ(ValuesOf(twice, "routes"), ValuesOf(once, "routes"));
}

TEST(EnvoyParts, RoutesForCallsToTheApplicationAreNotRead) {
  const std::string yaml = FromEnvoy(
      "[{name: 'inbound|80||', virtual_hosts: [{domains: ['*'], routes: [{match: {prefix: /}, "
      "route: "
      "{cluster: in}}]}]}, {name: '80', virtual_hosts: [{domains: ['*'], routes: [{match: {prefix: "
      "/}, route: {cluster: out}}]}]}]");
  EXPECT_EQ(CallIn(yaml, "a", "/a.A/Get"), "out, 1 attempt");
  EXPECT_THAT(CommentsOf(yaml),
              HasSubstr("Not read: route configuration \"inbound|80||\", which is "
                        "for calls to the application."));
}

TEST(EnvoyParts, ARouteToWhichNoCallComesIsAComment) {
  const std::string yaml = FromEnvoy(
      "[{match: {prefix: /}, route: {cluster: a}}, {match: {prefix: /b/}, route: {cluster: "
      "b}}]");
  EXPECT_THAT(CommentsOf(yaml), HasSubstr("Left out: a route above takes all of its calls."));
  EXPECT_EQ(FormatFaults(CheckConfig({{"out", yaml}}, std::nullopt).warnings), "");
}

}  // namespace
}  // namespace levee
