// SPDX-License-Identifier: Apache-2.0
// The import of Envoy's clusters and of their bounds on retries.
#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "import/imported.h"

namespace levee {
namespace {

using testing::HasSubstr;
using testing::Not;

// A retried route to the cluster "cart", and that cluster with these fields.
std::string WithCluster(const std::string& fields) {
  return FromEnvoy(
      "{route_config: {virtual_hosts: [{domains: [\"*\"], routes: [{match: {prefix: /}, "
      "route: {cluster: cart, timeout: 0s, retry_policy: {retry_on: unavailable}}}]}]}, "
      "clusters: [{name: cart, connect_timeout: 1s, " +
      fields + "}]}");
}

std::string Endpoint(const std::string& address, const std::string& port = "50051") {
  return "{endpoint: {address: {socket_address: {address: \"" + address +
         "\", port_value: " + port + "}}}}";
}

std::string Assigned(const std::string& endpoints) {
  return "load_assignment: {cluster_name: cart, endpoints: [{lb_endpoints: [" + endpoints + "]}]}";
}

std::string Thresholds(const std::string& thresholds) {
  return "circuit_breakers: {thresholds: [" + thresholds + "]}";
}

TEST(EnvoyCluster, AddressesAreEndpoints) {
  EXPECT_EQ(SectionOf(WithCluster(Assigned(Endpoint("10.0.0.7") + "," + Endpoint("::1") + "," +
                                           Endpoint("localhost", "80"))),
                      "upstreams"),
            "  - name: cart\n"
            "    endpoints: [\"10.0.0.7:50051\", \"[::1]:50051\", \"localhost:80\"]\n"
            "    connect_timeout: 1s\n");
}

TEST(EnvoyCluster, HostNamesAndPipesHaveTheirOwnKindOfEndpoint) {
  const std::string yaml = WithCluster(
      Assigned(Endpoint("cart.svc") + ", {endpoint: {address: {pipe: {path: /run/cart}}}}"));
  EXPECT_THAT(SectionOf(yaml, "upstreams"), HasSubstr("\"dns:cart.svc:50051\""));
  EXPECT_THAT(SectionOf(yaml, "upstreams"), HasSubstr("\"unix:/run/cart\""));
}

TEST(EnvoyCluster, EndpointsThatLeveeDoesNotDialAreComments) {
  EXPECT_EQ(
      SectionOf(WithCluster(Assigned(Endpoint("10.0.0.7", "0") + "," + Endpoint("10.0.0.8"))),
                "upstreams"),
      "  - name: cart\n"
      "    # Left out: \"10.0.0.7:0\" has port 0; give the port that the upstream listens on.\n"
      "    endpoints: [\"10.0.0.8:50051\"]\n"
      "    connect_timeout: 1s\n");
  EXPECT_EQ(
      SectionOf(WithCluster(Assigned(Endpoint("10.0.0.7", "0"))), "upstreams"),
      "  - name: cart\n"
      "    # Left out: \"10.0.0.7:0\" has port 0; give the port that the upstream listens on.\n"
      "    # Until then this dials what a call's :authority says.\n"
      "    endpoints: [\"authority:\"]\n"
      "    connect_timeout: 1s\n");
}

TEST(EnvoyCluster, WithoutEndpointsDialsTheAuthority) {
  EXPECT_EQ(
      SectionOf(WithCluster("type: EDS, eds_cluster_config: {service_name: cart}"), "upstreams"),
      "  - name: cart\n"
      "    # The file has no endpoints of this cluster; name them here. Until then this dials "
      "what a call's\n"
      "    # :authority says.\n"
      "    endpoints: [\"authority:\"]\n"
      "    connect_timeout: 1s\n");
}

TEST(EnvoyCluster, ThatTheFileDoesNotHaveIsAStub) {
  EXPECT_EQ(SectionOf(FromEnvoy("{match: {prefix: /}, route: {cluster: \"a|b\"}}"), "upstreams"),
            "  # Cluster \"a|b\".\n"
            "  - name: a-b\n"
            "    # The file does not have this cluster; name its endpoints here. Until then this "
            "dials what a\n"
            "    # call's :authority says.\n"
            "    endpoints: [\"authority:\"]\n");
}

TEST(EnvoyCluster, HasEnvoysConnectTimeoutByDefault) {
  EXPECT_THAT(FromEnvoy("clusters: [{name: cart, lb_policy: ROUND_ROBIN}]"),
              HasSubstr("    # Envoy's default for a cluster without connect_timeout.\n"
                        "    connect_timeout: 5s\n"));
}

TEST(EnvoyCluster, WhatHasNoEquivalentIsAComment) {
  const std::string comments = CommentsOf(WithCluster(
      "transport_socket: {name: envoy.transport_sockets.tls}, lb_policy: RANDOM, "
      "http2_protocol_options: {}, health_checks: [{timeout: 1s}], " +
      Thresholds("{max_connections: 10, max_retries: 2}, {priority: HIGH, max_retries: 9}")));
  EXPECT_THAT(comments, HasSubstr("transport_socket is not read: say in `tls` of the upstream"));
  EXPECT_THAT(comments, HasSubstr("Not read in clusters[0]: lb_policy, health_checks."));
  EXPECT_THAT(comments, HasSubstr("thresholds[0]: max_connections."));
  EXPECT_THAT(comments, HasSubstr("thresholds[1] has no equivalent: there is one priority"));
}

TEST(EnvoyCluster, ThatNoRouteLeadsToIsLeftOutWithAComment) {
  const std::string yaml = FromEnvoy(
      "{route_config: {virtual_hosts: [{domains: [\"*\"], routes: [{match: {prefix: /}, route: "
      "{cluster: cart}}]}]}, clusters: [{name: xds, lb_policy: RANDOM}]}");
  EXPECT_THAT(CommentsOf(yaml),
              HasSubstr("Left out: clusters that no route here leads to: \"xds\""));
  EXPECT_THAT(yaml, Not(HasSubstr("name: xds")));
}

TEST(EnvoyCluster, AloneGetsEveryCall) {
  const std::string yaml =
      FromEnvoy("clusters: [{name: a, lb_policy: X}, {name: b, lb_policy: X, " +
                Thresholds("{retry_budget: {}}") + "}]");
  EXPECT_EQ(SectionOf(yaml, "routes"),
            "  # The file has no routes; say which calls go to a.\n"
            "  - upstream: a\n"
            "    policy: a\n"
            "  # The file has no routes; say which calls go to b.\n"
            "  # - match: {}\n"
            "  #   upstream: b\n"
            "  #   policy: b\n");
  EXPECT_EQ(ValuesOf(yaml, "policies"),
            "  - name: a\n    retry:\n      max_attempts: 1\n"
            "  - name: b\n    retry:\n      max_attempts: 1\n      budget: {ratio: 0.2}\n");
}

TEST(EnvoyCluster, OfTheSameNameIsAFaultUnlessItIsTheSame) {
  EXPECT_EQ(FaultsOfEnvoy("clusters:\n- {name: a, lb_policy: X}\n- {name: a, lb_policy: Y}\n"), "");
  EXPECT_EQ(
      FaultsOfEnvoy("clusters:\n- {name: a, lb_policy: X}\n- {name: a, connect_timeout: 1s}\n"),
      "f:3:3: clusters[1]: there are two clusters named \"a\", which are not the same");
}

// A dump has a static cluster twice: in the bootstrap, and in a part of its own.
TEST(EnvoyCluster, OfAConfigDumpIsOne) {
  const std::string cluster =
      "\"name\": \"cart\", \"type\": \"STRICT_DNS\", \"connect_timeout\": \"1s\", "
      "\"load_assignment\": "
      "{\"cluster_name\": \"cart\", \"endpoints\": [{\"lb_endpoints\": [{\"endpoint\": "
      "{\"address\": "
      "{\"socket_address\": {\"address\": \"cart.shop\", \"port_value\": 50051}}}}]}]}";
  const std::string yaml = FromEnvoy(absl::StrCat(
      "{\"configs\": [{\"@type\": \"type.googleapis.com/envoy.admin.v3.BootstrapConfigDump\",\n"
      "\"bootstrap\": {\"static_resources\": {\"clusters\": [{",
      cluster,
      ", \"typed_extension_protocol_options\": "
      "{\"envoy.extensions.upstreams.http.v3.HttpProtocolOptions\": {\"@type\": \"x\", "
      "\"explicit_http_config\": {\"http2_protocol_options\": {}}}}}]}}},\n"
      "{\"@type\": \"type.googleapis.com/envoy.admin.v3.ClustersConfigDump\", \"static_clusters\": "
      "[{\"cluster\": {\"@type\": \"type.googleapis.com/envoy.config.cluster.v3.Cluster\", ",
      cluster, "}, \"last_updated\": \"2026-11-01T00:00:00Z\"}]}]}"));
  EXPECT_EQ(ValuesOf(yaml, "upstreams"),
            "  - name: cart\n    endpoints: [\"dns:cart.shop:50051\"]\n    connect_timeout: 1s\n");
  EXPECT_THAT(yaml, Not(HasSubstr("Not read")));
}

TEST(EnvoyCluster, OfIstiosControlPlaneHasItsServiceInItsName) {
  EXPECT_THAT(FromEnvoy("clusters: [{name: outbound|80|v1|cart.shop.svc.cluster.local, type: EDS, "
                        "eds_cluster_config: {}}]"),
              HasSubstr("endpoints: [\"dns:cart.shop.svc.cluster.local:80\"]\n"));
  EXPECT_THAT(FromEnvoy("clusters: [{name: BlackHoleCluster, connect_timeout: 10s}]"),
              HasSubstr("endpoints: [\"unix:/nowhere\"]\n"));
}

TEST(EnvoyCluster, KeepaliveAndTheAgeOfConnectionsHaveEquals) {
  const std::string yaml = WithCluster(
      "typed_extension_protocol_options: {envoy.extensions.upstreams.http.v3.HttpProtocolOptions: "
      "{'@type': x, explicit_http_config: {http2_protocol_options: {connection_keepalive: "
      "{interval: 30s, timeout: 5s}, max_concurrent_streams: 100}}, common_http_protocol_options: "
      "{max_connection_duration: 600s, idle_timeout: 300s, max_requests_per_connection: 1000}}}");
  EXPECT_THAT(ValuesOf(yaml, "upstreams"), HasSubstr("    keepalive: {interval: 30s, timeout: 5s}\n"
                                                     "    max_connection_age: 10m\n"));
  for (const char* word :
       {"max_concurrent_streams", "idle_timeout", "max_requests_per_connection"}) {
    EXPECT_THAT(CommentsOf(yaml), HasSubstr(word));
  }
  EXPECT_THAT(
      WithCluster("http2_protocol_options: {connection_keepalive: {interval: 9s, timeout: "
                  "1s}}, common_http_protocol_options: {max_connection_duration: 60s}"),
      HasSubstr("    keepalive: {interval: 9s, timeout: 1s}\n    max_connection_age: 1m\n"));
}

TEST(EnvoyCluster, OutliersAreEjected) {
  const std::string yaml = WithCluster(
      "outlier_detection: {consecutive_5xx: 7, base_ejection_time: 10s, max_ejection_time: 60s, "
      "interval: 5s}");
  EXPECT_THAT(ValuesOf(yaml, "upstreams"),
              HasSubstr("ejection: {failures: 7, success: 0, base: 10s, max: 1m}\n"));
  EXPECT_THAT(CommentsOf(yaml), HasSubstr("outlier_detection: interval."));
}

TEST(EnvoyCluster, ATlsContextIsTls) {
  const std::string yaml = WithCluster(
      "transport_socket: {name: envoy.transport_sockets.tls, typed_config: {'@type': "
      "type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext, sni: "
      "cart.example, common_tls_context: {tls_certificates: [{certificate_chain: {filename: "
      "/c.pem}, private_key: {inline_string: x}}], validation_context: {trusted_ca: {filename: "
      "/ca.pem}, match_typed_subject_alt_names: [{san_type: DNS, matcher: {exact: a.example}}, "
      "{san_type: URI, matcher: {exact: 'spiffe://shop/cart'}}, {san_type: DNS, matcher: {prefix: "
      "b}}]}, alpn_protocols: [h2]}}}");
  EXPECT_THAT(ValuesOf(yaml, "upstreams"),
              HasSubstr("    tls: {ca: system, server_name: cart.example, subject_alt_names: "
                        "[\"dns:a.example\", \"uri:spiffe://shop/cart\"]}\n"));
  for (const char* note : {"certificate_chain \"/c.pem\": make the file readable for Levee",
                           "private_key (inline_string): write it to a file",
                           "trusted_ca \"/ca.pem\"", "matcher: prefix"}) {
    EXPECT_THAT(CommentsOf(yaml), HasSubstr(note));
  }
}

TEST(EnvoyRetryBudget, IsTheBudgetsRatio) {
  EXPECT_THAT(
      WithCluster(
          Thresholds("{retry_budget: {budget_percent: {value: 25.0}, min_retry_concurrency: 5}}")),
      HasSubstr(
          "      # retry_budget of cluster \"cart\": Envoy lets retries be 25% of the requests "
          "under way, Levee\n"
          "      # of the calls in the last 10s.\n"
          "      # min_retry_concurrency: Envoy always lets 5 retries be under way. Levee's burst "
          "lets as many\n"
          "      # fail in a row, and then successes have to pay for more.\n"
          "      budget: {ratio: 0.25, burst: {least: 5}}\n"));
}

TEST(EnvoyRetryBudget, OfAnIntervalHasAWindow) {
  const std::string yaml = WithCluster(Thresholds("{retry_budget: {budget_interval: 5s}}"));
  EXPECT_THAT(ValuesOf(yaml, "policies"), HasSubstr("budget: {ratio: 0.2, window: 5s}\n"));
  EXPECT_THAT(CommentsOf(yaml),
              HasSubstr("Envoy lets retries be 20% of the requests of the last budget_interval, "
                        "Levee of the calls of the window."));
}

TEST(EnvoyRetryBudget, BeyondTheBoundsOfAPolicyIsBoundedAndToldOf) {
  const std::string yaml = WithCluster(
      Thresholds("{retry_budget: {budget_interval: 7200s, min_retry_concurrency: 2000000}}"));
  EXPECT_THAT(ValuesOf(yaml, "policies"),
              HasSubstr("budget: {ratio: 0.2, window: 1h, burst: {least: 1000000}}\n"));
  EXPECT_THAT(CommentsOf(yaml), HasSubstr("a window is 100ms to 1h long."));
  EXPECT_THAT(CommentsOf(yaml), HasSubstr("burst.least is at most 1000000."));
}

TEST(EnvoyRetryBudget, IsTwentyPercentByDefault) {
  EXPECT_THAT(ValuesOf(WithCluster(Thresholds("{retry_budget: {}}")), "policies"),
              HasSubstr("budget: {ratio: 0.2}\n"));
}

TEST(EnvoyRetryBudget, ThatEnvoyRefusesIsAFault) {
  EXPECT_EQ(FaultsOfEnvoy("clusters: [{name: a,\n" +
                          Thresholds("{retry_budget: {budget_percent: {value: 101}}}") + "}]"),
            "f:2:73: clusters[0].circuit_breakers.thresholds[0].retry_budget.budget_percent.value: "
            "must be from 0 to 100");
}

TEST(EnvoyMaxRetries, HaveNoEquivalent) {
  const std::string yaml = WithCluster(Thresholds("{max_retries: 7}"));
  EXPECT_THAT(CommentsOf(yaml),
              HasSubstr("max_retries of cluster \"cart\": at most 7 retries under way. This has no "
                        "equivalent: the budget bounds their share of the calls."));
  EXPECT_THAT(ValuesOf(yaml, "policies"), Not(HasSubstr("budget")));
  EXPECT_THAT(CommentsOf(yaml), HasSubstr("Levee allows 1 retry per 10 calls"));
}

}  // namespace
}  // namespace levee
