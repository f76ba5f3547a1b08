// SPDX-License-Identifier: Apache-2.0
// The import of Envoy's local rate limit.
#include <string>

#include "gmock/gmock.h"
#include "import/imported.h"

namespace levee {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr char kOn[] = "default_value: {numerator: 100, denominator: HUNDRED}";

// Settings of the filter with this token bucket.
std::string Settings(const std::string& bucket) {
  return absl::StrCat("{stat_prefix: burst, token_bucket: {", bucket, "}, filter_enabled: {", kOn,
                      "}, filter_enforced: {", kOn, "}}");
}

std::string LimitOf(const std::string& bucket) {
  const std::string policies = ValuesOf(FromEnvoy(Settings(bucket)), "policies");
  const size_t at = policies.find("    rate_limit: ");
  return at == std::string::npos ? "" : policies.substr(at + 16);
}

TEST(EnvoyRateLimit, TheTokenBucketIsARateAndABurst) {
  EXPECT_EQ(LimitOf("max_tokens: 50, tokens_per_fill: 100, fill_interval: 1s"),
            "[{name: burst, rate: 100/s, burst: 50}]\n");
  EXPECT_EQ(LimitOf("max_tokens: 50, fill_interval: 0.05s"),
            "[{name: burst, rate: 20/s, burst: 50}]\n");
  EXPECT_EQ(LimitOf("max_tokens: 1, tokens_per_fill: 100, fill_interval: 60s"),
            "[{name: burst, rate: 100/m, burst: 1}]\n");
  EXPECT_EQ(LimitOf("max_tokens: 1, tokens_per_fill: 10, fill_interval: 3600s"),
            "[{name: burst, rate: 10/h, burst: 1}]\n");
  EXPECT_EQ(LimitOf("max_tokens: 1, tokens_per_fill: 1, fill_interval: 7s"),
            "[{name: burst, rate: 0.142857142857/s, burst: 1}]\n");
}

TEST(EnvoyRateLimit, APermitADayIsWrittenWithoutAnExponent) {
  EXPECT_EQ(LimitOf("max_tokens: 1, fill_interval: 86400s"),
            "[{name: burst, rate: 0.0416666666667/h, burst: 1}]\n");
}

TEST(EnvoyRateLimit, TheRateFillsTheBurstInAYear) {
  const std::string slow = "max_tokens: 9, fill_interval: 315576000000s";
  EXPECT_EQ(LimitOf(slow), "[{name: burst, rate: 0.000114168284051/h, burst: 1}]\n");
  const std::string large = "max_tokens: 1000000000, fill_interval: 1s";
  EXPECT_EQ(LimitOf(large), "[{name: burst, rate: 1/s, burst: 31535999}]\n");
  for (const std::string& bucket : {slow, large}) {
    EXPECT_THAT(CommentsOf(FromEnvoy(Settings(bucket))),
                HasSubstr("Levee takes a rate that fills the burst in at most 8760h."));
  }
}

TEST(EnvoyRateLimit, BeyondWhatAPolicyTakesIsBounded) {
  const std::string bucket = "max_tokens: 4000000000, tokens_per_fill: 100000000, fill_interval: ";
  EXPECT_EQ(LimitOf(bucket + "0.05s"), "[{name: burst, rate: 1000000000/s, burst: 1000000000}]\n");
  EXPECT_THAT(CommentsOf(FromEnvoy(Settings(bucket + "1s"))),
              HasSubstr("Levee takes a rate and a burst of at most 1000000000."));
}

TEST(EnvoyRateLimit, ThatEnvoyRefusesIsAFault) {
  EXPECT_EQ(FaultsOfEnvoy("token_bucket: {max_tokens: 0, tokens_per_fill: 0}"),
            "f:1:1: token_bucket.fill_interval: must be given and above 0s\n"
            "f:1:28: token_bucket.max_tokens: must be given and above 0\n"
            "f:1:48: token_bucket.tokens_per_fill: must be above 0");
}

TEST(EnvoyRateLimit, OfAFractionOfTheCallsIsAComment) {
  const std::string yaml = FromEnvoy(
      "token_bucket: {max_tokens: 1, fill_interval: 1s}\n"
      "filter_enforced: {default_value: {numerator: 5000, denominator: TEN_THOUSAND}}\n");
  EXPECT_THAT(yaml, HasSubstr("    # The local rate limit is left out: filter_enforced is 50%, and "
                              "Levee limits all calls.\n"));
  EXPECT_THAT(yaml, Not(HasSubstr("rate_limit: [")));
}

TEST(EnvoyRateLimit, ThatIsNotSwitchedOnIsWrittenWithAComment) {
  EXPECT_THAT(FromEnvoy("token_bucket: {max_tokens: 1, fill_interval: 1s}\n"),
              HasSubstr("    # Without filter_enabled and filter_enforced Envoy limits nothing; "
                        "Levee does.\n"
                        "    rate_limit: [{name: local, rate: 1/s, burst: 1}]\n"));
}

TEST(EnvoyRateLimit, WhatIsNotReadIsAComment) {
  EXPECT_THAT(CommentsOf(FromEnvoy("token_bucket: {max_tokens: 1, fill_interval: 1s}\n"
                                   "descriptors: []\nstatus: {code: 503}\n")),
              HasSubstr("Not read in the file: descriptors."));
}

TEST(EnvoyRateLimit, OfConnectionsIsAnotherOne) {
  EXPECT_THAT(
      FaultsOfEnvoy("{filters: [{name: envoy.filters.network.local_ratelimit, typed_config: "
                    "{token_bucket: {max_tokens: 1, fill_interval: 1s}}}]}"),
      HasSubstr("has nothing to import"));
}

// A connection manager whose filter limits to 1/s, with one virtual host.
std::string Manager(const std::string& virtual_host) {
  return "{http_filters: [{name: envoy.filters.http.local_ratelimit, typed_config: " +
         Settings("max_tokens: 1, fill_interval: 1s") +
         "}, {name: envoy.filters.http.router}, {name: envoy.filters.http.cors}], "
         "route_config: {virtual_hosts: [{domains: [\"*\"], " +
         virtual_host + "}]}}";
}

TEST(EnvoyRateLimit, OfAFilterHoldsForItsRoutes) {
  const std::string yaml =
      FromEnvoy(Manager("routes: [{match: {prefix: /}, route: {cluster: a, timeout: 0s}}]"));
  EXPECT_EQ(ValuesOf(yaml, "policies"),
            "  - name: a\n"
            "    retry:\n"
            "      max_attempts: 1\n"
            "    rate_limit: [{name: burst, rate: 1/s, burst: 1}]\n");
  EXPECT_THAT(CommentsOf(yaml), HasSubstr("http_filters[2] (\"envoy.filters.http.cors\")"));
  EXPECT_THAT(CommentsOf(yaml), HasSubstr("each policy has its own bucket"));
}

TEST(EnvoyRateLimit, OfARouteTakesThePlaceOfThoseAroundIt) {
  const std::string own = "typed_per_filter_config: {envoy.filters.http.local_ratelimit: ";
  const std::string yaml = FromEnvoy(Manager(
      own + Settings("max_tokens: 2, fill_interval: 1s") +
      "}, routes: [{match: {prefix: /a/}, route: {cluster: a, timeout: 0s}, " + own +
      "{config: " + Settings("max_tokens: 3, fill_interval: 1s") +
      "}, envoy.filters.http.cors: {}}}, {match: {prefix: /}, route: {cluster: b, timeout: 0s}}]"));
  EXPECT_EQ(ValuesOf(yaml, "policies"),
            "  - name: a\n"
            "    retry:\n"
            "      max_attempts: 1\n"
            "    rate_limit: [{name: burst, rate: 1/s, burst: 3}]\n"
            "  - name: b\n"
            "    retry:\n"
            "      max_attempts: 1\n"
            "    rate_limit: [{name: burst, rate: 1/s, burst: 2}]\n");
  EXPECT_THAT(CommentsOf(yaml), HasSubstr("typed_per_filter_config: envoy.filters.http.cors."));
}

TEST(EnvoyRateLimit, OfAFilterWithoutRoutesHoldsForEveryCall) {
  const std::string settings = Settings("max_tokens: 1, fill_interval: 1s");
  for (const std::string& text :
       {"{http_filters: [{name: envoy.filters.http.local_ratelimit, typed_config: " + settings +
            "}], rds: {}}",
        "{name: envoy.filters.http.local_ratelimit, typed_config: {type_url: t, value: " +
            settings + "}}",
        "{typed_per_filter_config: {envoy.filters.http.local_ratelimit: " + settings + "}}",
        "{spec: [{patch: {value: {name: envoy.filters.http.local_ratelimit, typed_config: " +
            settings + "}}}]}"}) {
    const std::string yaml = FromEnvoy(text);
    EXPECT_EQ(ValuesOf(yaml, "routes"), "  - upstream: anywhere\n    policy: imported\n") << text;
    EXPECT_THAT(yaml, HasSubstr("    rate_limit: [{name: burst, rate: 1/s, burst: 1}]\n")) << text;
  }
}

TEST(EnvoyRateLimit, AServiceOfWhichTheFileDoesNotTellTheAddressIsAComment) {
  const std::string yaml = FromEnvoy(
      "{http_filters: [{name: envoy.filters.http.ratelimit, typed_config: {domain: shop}}], "
      "route_config: {virtual_hosts: [{domains: ['*'], rate_limits: [{actions: [{remote_address: "
      "{}}]}], routes: [{match: {prefix: /}, route: {cluster: a, rate_limits: [{actions: "
      "[{request_headers: {header_name: x-tenant, descriptor_key: t}}]}]}}]}]}}");
  const std::string comments = CommentsOf(yaml);
  EXPECT_THAT(comments, testing::HasSubstr("(domain \"shop\"), which is left out. The file does "
                                           "not have its cluster"));
  EXPECT_THAT(comments, testing::HasSubstr("service is asked by header:x-tenant."));
  EXPECT_THAT(comments, testing::HasSubstr("service is asked by remote_address."));
  EXPECT_THAT(ValuesOf(yaml, "policies"), testing::Not(testing::HasSubstr("rate_limit")));
}

}  // namespace
}  // namespace levee
