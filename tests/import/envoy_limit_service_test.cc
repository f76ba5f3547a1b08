// SPDX-License-Identifier: Apache-2.0
// The import of Envoy's filter that asks a rate limit service.
#include <string>

#include "gmock/gmock.h"
#include "import/imported.h"

namespace levee {
namespace {

using testing::HasSubstr;
using testing::Not;

// A configuration whose filter has these settings beside its domain and its service, whose virtual
// host has `host`, and whose route has `route`.
std::string Config(const std::string& settings, const std::string& host, const std::string& route,
                   const std::string& cluster = "address: ratelimit, port_value: 8081") {
  return "{static_resources: {listeners: [{filter_chains: [{filters: [{typed_config: {"
         "http_filters: [{name: envoy.filters.http.ratelimit, typed_config: {domain: shop, " +
         settings +
         "rate_limit_service: {grpc_service: {envoy_grpc: {cluster_name: limits}}, "
         "transport_api_version: V3}}}, {name: envoy.filters.http.router}], route_config: "
         "{virtual_hosts: [{domains: ['*'], " +
         host + "routes: [{match: {prefix: /}, route: {cluster: cart, timeout: 0s, " + route +
         "}}]}]}}}]}]}], clusters: [{name: limits, type: STRICT_DNS, load_assignment: {endpoints: "
         "[{lb_endpoints: [{endpoint: {address: {socket_address: {" +
         cluster + "}}}}]}]}}]}}";
}

std::string Actions(const std::string& actions) {
  return "rate_limits: [{actions: [" + actions + "]}]";
}

// The limits of the only policy, in one line.
std::string LimitsOf(const std::string& yaml) {
  const std::string policies = ValuesOf(yaml, "policies");
  const size_t at = policies.find("    rate_limit: ");
  return at == std::string::npos ? "" : policies.substr(at + 16);
}

// The key of the only limit.
std::string KeyOf(const std::string& actions) {
  const std::string limits = LimitsOf(FromEnvoy(Config("", "", Actions(actions))));
  const size_t at = limits.find("key: ");
  return at == std::string::npos ? "" : limits.substr(at + 5, limits.find(", rls:") - at - 5);
}

constexpr char kGeneric[] = "{generic_key: {descriptor_value: paid}}";

TEST(EnvoyLimitService, ARateLimitOfARouteIsALimitOfItsPolicy) {
  EXPECT_EQ(LimitsOf(FromEnvoy(Config("", "", Actions(kGeneric)))),
            "[{name: service, scope: rls, key: [\"generic_key=text:paid\"], rls: {address: "
            "\"ratelimit:8081\", domain: shop, timeout: 20ms, on_failure: allow}}]\n");
}

TEST(EnvoyLimitService, TheFilterSaysHowLongCallsWaitAndWhatAFailureMeans) {
  const std::string limits = LimitsOf(
      FromEnvoy(Config("timeout: 0.1s, failure_mode_deny: true, ", "", Actions(kGeneric))));
  EXPECT_THAT(limits, HasSubstr("timeout: 100ms, on_failure: deny"));
}

TEST(EnvoyLimitService, ActionsArePartsOfTheKey) {
  EXPECT_EQ(KeyOf("{request_headers: {header_name: X-Tenant, descriptor_key: tenant}}"),
            "[\"tenant=header:x-tenant\"]");
  EXPECT_EQ(KeyOf("{request_headers: {header_name: ':path', descriptor_key: path}}, "
                  "{request_headers: {header_name: ':authority', descriptor_key: host}}, "
                  "{request_headers: {header_name: ':method', descriptor_key: verb}}"),
            "[\"path=method\", \"host=authority\", \"verb=text:POST\"]");
  EXPECT_EQ(KeyOf("{destination_cluster: {}}, {generic_key: {descriptor_key: tier, "
                  "descriptor_value: 'a, b'}}"),
            "[\"destination_cluster=text:cart\", \"tier=text:a, b\"]");
}

TEST(EnvoyLimitService, EachRateLimitIsALimit) {
  const std::string limits = LimitsOf(FromEnvoy(
      Config("", "",
             "rate_limits: [{actions: [" + std::string(kGeneric) +
                 "]}, {actions: [{request_headers: {header_name: a, descriptor_key: b}}]}]")));
  EXPECT_THAT(limits, HasSubstr("{name: service, "));
  EXPECT_THAT(limits, HasSubstr("{name: service-2, scope: rls, key: [\"b=header:a\"]"));
}

TEST(EnvoyLimitService, WhatHasNoEquivalentIsACommentInItsPlace) {
  for (const char* action :
       {"remote_address: {}", "source_cluster: {}", "masked_remote_address: {}",
        "header_value_match: {descriptor_value: a, headers: [{name: b}]}",
        "metadata: {descriptor_key: a}", "extension: {name: a}"}) {
    const std::string name = std::string(action).substr(0, std::string(action).find(':'));
    const std::string yaml =
        FromEnvoy(Config("", "", Actions(std::string(kGeneric) + ", {" + action + "}")));
    EXPECT_EQ(LimitsOf(yaml), "") << action;
    EXPECT_THAT(CommentsOf(yaml), HasSubstr("rate_limits[0] is left out, since this has no "
                                            "equivalent: " +
                                            name +
                                            ". The rest is the key "
                                            "[\"generic_key=text:paid\"]."));
  }
}

TEST(EnvoyLimitService, APartThatLeveeWouldRefuseHasNoEquivalent) {
  for (const char* action :
       {"{generic_key: {descriptor_key: 'a b', descriptor_value: c}}", "{generic_key: {}}",
        "{request_headers: {header_name: ':scheme', descriptor_key: s}}",
        "{generic_key: {descriptor_value: x}}, {generic_key: {descriptor_value: x}}"}) {
    const std::string yaml = FromEnvoy(Config("", "", Actions(action)));
    EXPECT_EQ(LimitsOf(yaml), "") << action;
    EXPECT_THAT(CommentsOf(yaml), HasSubstr("is left out, since this has no equivalent")) << action;
  }
}

TEST(EnvoyLimitService, ConditionsOfARateLimitHaveNoEquivalent) {
  const std::string yaml = FromEnvoy(Config(
      "", "",
      "rate_limits: [{disable_key: k, limit: {}, actions: [" + std::string(kGeneric) + "]}]"));
  EXPECT_EQ(LimitsOf(yaml), "");
  EXPECT_THAT(CommentsOf(yaml), HasSubstr("no equivalent: disable_key, limit."));
}

TEST(EnvoyLimitService, AFilterReadsTheRateLimitsOfItsStage) {
  const std::string limits = "rate_limits: [{stage: 1, actions: [" + std::string(kGeneric) + "]}]";
  EXPECT_THAT(LimitsOf(FromEnvoy(Config("stage: 1, ", "", limits))), HasSubstr("scope: rls"));
  const std::string yaml = FromEnvoy(Config("", "", limits));
  EXPECT_EQ(LimitsOf(yaml), "");
  EXPECT_THAT(CommentsOf(yaml), HasSubstr("no equivalent: stage 1, which no filter reads."));
}

TEST(EnvoyLimitService, ARouteTakesThoseOfItsVirtualHostIfItHasNoneOrSaysSo) {
  const std::string host = "rate_limits: [{actions: [{generic_key: {descriptor_value: host}}]}], ";
  const auto keys = [&](const std::string& route) {
    std::string found;
    const std::string limits = LimitsOf(FromEnvoy(Config("", host, route)));
    for (const char* key : {"text:host", "text:paid"}) {
      if (limits.find(key) != std::string::npos) found += std::string(key) + " ";
    }
    return found;
  };
  EXPECT_EQ(keys("prefix_rewrite: /a/"), "text:host ");
  EXPECT_EQ(keys(Actions(kGeneric)), "text:paid ");
  EXPECT_EQ(keys("include_vh_rate_limits: true, " + Actions(kGeneric)), "text:host text:paid ");
}

TEST(EnvoyLimitService, CallsWithoutTheHeaderAreToldOf) {
  const std::string yaml = FromEnvoy(Config(
      "", "", Actions("{request_headers: {header_name: x-tenant, descriptor_key: tenant}}")));
  EXPECT_THAT(CommentsOf(yaml), HasSubstr("Envoy asks nothing for calls without x-tenant; Levee "
                                          "asks with an empty value."));
  EXPECT_THAT(CommentsOf(yaml), HasSubstr("Levee leases permits of each limit in batches."));
}

TEST(EnvoyLimitService, WithoutItsAddressTheServiceIsAComment) {
  const std::string yaml =
      FromEnvoy(Config("", "", Actions(kGeneric), "address: a, port_value: 0"));
  EXPECT_EQ(LimitsOf(yaml), "");
  EXPECT_THAT(CommentsOf(yaml),
              HasSubstr("A rate limit service is asked (domain \"shop\"), which is "
                        "left out. Its cluster, \"limits\", has no HOST:PORT."));
  EXPECT_THAT(CommentsOf(yaml), HasSubstr("a rate limit service is asked by generic_key"));
}

TEST(EnvoyLimitService, ALocalLimitStandsBesideThoseOfTheService) {
  const std::string local =
      "typed_per_filter_config: {envoy.filters.http.local_ratelimit: {stat_prefix: own, "
      "token_bucket: {max_tokens: 1, fill_interval: 1s}}}, ";
  const std::string limits = LimitsOf(FromEnvoy(Config("", local, Actions(kGeneric))));
  EXPECT_THAT(limits, HasSubstr("[{name: own, rate: 1/s, burst: 1}, {name: service, scope: rls"));
}

}  // namespace
}  // namespace levee
