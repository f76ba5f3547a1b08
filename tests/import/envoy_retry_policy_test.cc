// SPDX-License-Identifier: Apache-2.0
// The import of each field of Envoy's retry_policy.
#include <string>

#include "gmock/gmock.h"
#include "import/imported.h"

namespace levee {
namespace {

using testing::HasSubstr;
using testing::Not;

// A route with this retry_policy.
std::string RetriedRoute(const std::string& retry_policy) {
  return "{match: {prefix: /}, route: {cluster: a, timeout: 0s, retry_policy: {" + retry_policy +
         "}}}";
}

// Returns `retry` of its policy.
std::string RetryOf(const std::string& retry_policy) {
  const std::string policies = ValuesOf(FromEnvoy(RetriedRoute(retry_policy)), "policies");
  const std::string start = "  - name: a\n    retry:\n";
  EXPECT_TRUE(policies.starts_with(start)) << policies;
  return policies.substr(start.size());
}

std::string CommentsOn(const std::string& retry_policy) {
  return CommentsOf(FromEnvoy(RetriedRoute(retry_policy)));
}

constexpr char kDefaults[] =
    "      backoff: {initial: 25ms, multiplier: 2, max: 250ms, jitter: full}\n"
    "      commit: headers\n";

TEST(EnvoyRetryOn, GrpcConditionsAreCodes) {
  EXPECT_EQ(RetryOf("retry_on: \"cancelled,deadline-exceeded, internal ,resource-exhausted,"
                    "unavailable\""),
            absl::StrCat("      max_attempts: 2\n"
                         "      codes: [CANCELLED, DEADLINE_EXCEEDED, INTERNAL, "
                         "RESOURCE_EXHAUSTED, UNAVAILABLE]\n"
                         "      failures: []\n",
                         kDefaults));
}

TEST(EnvoyRetryOn, HttpConditionsAreStatuses) {
  EXPECT_THAT(RetryOf("retry_on: retriable-4xx"), HasSubstr("      http: [409]\n"));
  EXPECT_THAT(RetryOf("retry_on: gateway-error"), HasSubstr("      http: [502, 503, 504]\n"));
  EXPECT_THAT(RetryOf("retry_on: \"gateway-error,5xx,retriable-4xx\""),
              HasSubstr("      http: [5xx, 409]\n"));
  EXPECT_THAT(RetryOf("retry_on: \"retriable-status-codes,gateway-error\", "
                      "retriable_status_codes: [429, 503]"),
              HasSubstr("      http: [429, 503, 502, 504]\n"));
}

TEST(EnvoyRetryOn, ConditionsWithoutAnswerAreFailures) {
  EXPECT_THAT(RetryOf("retry_on: connect-failure"), HasSubstr("      failures: [connect]\n"));
  EXPECT_THAT(RetryOf("retry_on: refused-stream"), HasSubstr("      failures: [refused]\n"));
  EXPECT_THAT(RetryOf("retry_on: reset-before-request"), HasSubstr("      failures: [connect]\n"));
  EXPECT_THAT(RetryOf("retry_on: \"connect-failure,refused-stream\""),
              HasSubstr("      failures: [refused, connect]\n"));
  for (const char* condition : {"reset", "5xx", "gateway-error"}) {
    EXPECT_THAT(RetryOf(absl::StrCat("retry_on: ", condition)),
                HasSubstr("      failures: [refused, connect, reset]\n"));
  }
}

TEST(EnvoyRetryOn, APerTryTimeoutIsRetriedAsAReset) {
  EXPECT_THAT(RetryOf("retry_on: reset, per_try_timeout: 0.5s"),
              HasSubstr("      failures: [refused, connect, reset, timeout]\n"
                        "      attempt_timeout: 500ms\n"));
  EXPECT_THAT(RetryOf("retry_on: unavailable, per_try_timeout: 0.5s"),
              HasSubstr("      failures: []\n"
                        "      attempt_timeout: 500ms\n"));
  EXPECT_THAT(RetryOf("retry_on: reset, per_try_timeout: 0s"), Not(HasSubstr("timeout")));
}

TEST(EnvoyRetryOn, ConditionsWithoutEquivalentAreComments) {
  const std::string comments = CommentsOn(
      "retry_on: \"envoy-ratelimited,unavailable,retriable-headers,http3-post-connect-failure\"");
  for (const char* condition :
       {"envoy-ratelimited", "retriable-headers", "http3-post-connect-failure"}) {
    EXPECT_THAT(comments,
                HasSubstr(absl::StrCat("retry_on: \"", condition, "\" has no equivalent.")));
  }
}

TEST(EnvoyRetryOn, WithoutAnyThatLeveeHasNothingIsRetried) {
  EXPECT_EQ(RetryOf("retry_on: retriable-headers, num_retries: 3, per_try_timeout: 1s"),
            "      max_attempts: 1\n"
            "      attempt_timeout: 1s\n");
  EXPECT_THAT(CommentsOn("num_retries: 3"), HasSubstr("retry_on names nothing that Levee retries"));
}

TEST(EnvoyRetryOn, StatusesThatAreNotUsedOrNoFailuresAreComments) {
  const std::string policy = "retry_on: 5xx, retriable_status_codes: [200, 429]";
  EXPECT_THAT(RetryOf(policy), HasSubstr("      http: [5xx]\n"));
  EXPECT_THAT(CommentsOn(policy), HasSubstr("retriable_status_codes: 200 has no equivalent"));
  EXPECT_THAT(CommentsOn(policy), HasSubstr("only if retry_on names retriable-status-codes"));
}

TEST(EnvoyNumRetries, AreAttemptsWithoutTheFirst) {
  EXPECT_THAT(RetryOf("retry_on: reset"), HasSubstr("max_attempts: 2\n"));
  EXPECT_THAT(RetryOf("retry_on: reset, num_retries: 0"), HasSubstr("max_attempts: 1\n"));
  EXPECT_THAT(RetryOf("retry_on: reset, num_retries: 99"), HasSubstr("max_attempts: 100\n"));
  EXPECT_THAT(FromEnvoy(RetriedRoute("retry_on: reset, num_retries: 100")),
              HasSubstr("      # num_retries is 100; Levee makes at most 100 attempts.\n"
                        "      max_attempts: 100\n"));
}

TEST(EnvoyBackOff, IsFullJitterWithItsOwnBounds) {
  EXPECT_THAT(RetryOf("retry_on: reset, retry_back_off: {base_interval: 0.1s}"),
              HasSubstr("backoff: {initial: 100ms, multiplier: 2, max: 1s, jitter: full}\n"));
  EXPECT_THAT(RetryOf("retry_on: reset, retry_back_off: {base_interval: 0.1s, max_interval: 3s}"),
              HasSubstr("backoff: {initial: 100ms, multiplier: 2, max: 3s, jitter: full}\n"));
}

TEST(EnvoyBackOff, WhatEnvoyRefusesIsAFaultWithItsPlace) {
  EXPECT_EQ(FaultsOfEnvoy("retry_policy:\n"
                          "  num_retries: -1\n"
                          "  retry_back_off: {base_interval: 1s, max_interval: 0.5s}\n"),
            "f:2:16: retry_policy.num_retries: must not be negative\n"
            "f:3:53: retry_policy.retry_back_off.max_interval: must be at least base_interval");
  EXPECT_EQ(FaultsOfEnvoy("retry_policy:\n  retry_back_off: {max_interval: 1s}\n"),
            "f:2:3: retry_policy.retry_back_off.base_interval: must be given and above 0s");
}

TEST(EnvoyRetryPolicy, FieldsWithoutEquivalentAreComments) {
  const std::string comments = CommentsOn(
      "retry_on: reset, per_try_idle_timeout: 1s, retry_priority: {name: p}, "
      "rate_limited_retry_back_off: {reset_headers: [{name: retry-after}]}, "
      "retry_host_predicate: [{name: envoy.retry_host_predicates.previous_hosts}, "
      "{name: envoy.retry_host_predicates.omit_canary_hosts}], "
      "host_selection_retry_max_attempts: 5, retriable_headers: [], retriable_request_headers: [], "
      "retry_options_predicates: [], surprise: 1");
  for (const char* comment :
       {"per_try_idle_timeout has no equivalent.", "retry_priority has no equivalent.",
        "retriable_headers has no equivalent.", "retriable_request_headers has no equivalent.",
        "retry_options_predicates has no equivalent.",
        "rate_limited_retry_back_off has no equivalent: Levee waits as long as retry-after",
        "retry_host_predicate: Levee avoids the endpoints that failed in any case.",
        "retry_host_predicate: \"envoy.retry_host_predicates.omit_canary_hosts\" has no equi",
        "host_selection_retry_max_attempts: Levee looks at every endpoint",
        "Not read in route.retry_policy: surprise."}) {
    EXPECT_THAT(comments, HasSubstr(comment));
  }
}

TEST(EnvoyRetryPolicy, OfTheRouteTakesThePlaceOfTheVirtualHosts) {
  const std::string yaml = FromEnvoy(
      "{domains: [\"*\"], retry_policy: {retry_on: unavailable, num_retries: 5}, routes: ["
      "{match: {prefix: /a/}, route: {cluster: a, timeout: 0s, retry_policy: {retry_on: "
      "internal}}},"
      "{match: {prefix: /b/}, route: {cluster: b, timeout: 0s}}]}");
  EXPECT_EQ(ValuesOf(yaml, "policies"), absl::StrCat("  - name: a\n"
                                                     "    retry:\n"
                                                     "      max_attempts: 2\n"
                                                     "      codes: [INTERNAL]\n"
                                                     "      failures: []\n",
                                                     kDefaults,
                                                     "  - name: b\n"
                                                     "    retry:\n"
                                                     "      max_attempts: 6\n"
                                                     "      codes: [UNAVAILABLE]\n"
                                                     "      failures: []\n",
                                                     kDefaults));
}

TEST(EnvoyRetryPolicy, AloneIsForEveryCall) {
  for (const char* text : {"retry_policy: {retry_on: unavailable}\n", "retry_on: unavailable\n"}) {
    const std::string yaml = FromEnvoy(text);
    EXPECT_EQ(ValuesOf(yaml, "routes"), "  - upstream: anywhere\n    policy: imported\n");
    EXPECT_EQ(ValuesOf(yaml, "policies"), absl::StrCat("  - name: imported\n"
                                                       "    retry:\n"
                                                       "      max_attempts: 2\n"
                                                       "      codes: [UNAVAILABLE]\n"
                                                       "      failures: []\n",
                                                       kDefaults));
  }
}

TEST(EnvoyRetryPolicy, TheBufferLimitIsTheBuffer) {
  const std::string route =
      "{match: {prefix: /}, route: {cluster: a, retry_policy: {retry_on: reset}}";
  EXPECT_THAT(FromEnvoy(route + ", per_request_buffer_limit_bytes: 1024}"),
              HasSubstr("      buffer: 1024B\n"));
  EXPECT_THAT(FromEnvoy("{domains: [\"*\"], per_request_buffer_limit_bytes: 2048, routes: [" +
                        route + "}]}"),
              HasSubstr("      buffer: 2048B\n"));
}

TEST(EnvoyRetryPolicy, OverloadedAnswersAreNotRetried) {
  EXPECT_EQ(ValuesOf(FromEnvoy(RetriedRoute("retry_on: reset")) + "\n", "overload"),
            "  honor: [levee, error_info, pushback, envoy]\n");
  EXPECT_THAT(FromEnvoy("{match: {prefix: /}, route: {cluster: a}}"), Not(HasSubstr("overload")));
}

}  // namespace
}  // namespace levee
