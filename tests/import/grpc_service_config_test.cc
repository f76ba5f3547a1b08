// SPDX-License-Identifier: Apache-2.0
// The import of each part of a gRPC service config.
#include <string>

#include "gmock/gmock.h"
#include "import/imported.h"

namespace levee {
namespace {

using testing::HasSubstr;
using testing::Not;

// The policies, without comments, for the method shop.Cart/Get with these fields.
std::string PolicyFor(const std::string& fields) {
  return ValuesOf(FromGrpc("{methodConfig: [{name: [{service: shop.Cart, method: Get}, {}]" +
                           (fields.empty() ? "" : ", " + fields) + "}]}"),
                  "policies");
}

// A retryPolicy that gRPC accepts, with other fields first.
std::string RetryPolicyWith(const std::string& fields) {
  return "retryPolicy: {" + fields + ", backoffMultiplier: 2}";
}
constexpr char kBackoff[] = "initialBackoff: 0.1s, maxBackoff: 1s";
constexpr char kUnavailable[] = "retryableStatusCodes: [UNAVAILABLE]";

std::string Retrying(const std::string& fields) {
  return "{methodConfig: [{name: [{}], " + RetryPolicyWith(fields) + "}]}";
}
const std::string kRetrying =
    Retrying(absl::StrCat("maxAttempts: 3, ", kBackoff, ", ", kUnavailable));

TEST(GrpcNames, AreRoutesFromTheMostExactToTheLeast) {
  EXPECT_EQ(ValuesOf(FromGrpc("{methodConfig: ["
                              "{name: [{}], timeout: 1s},"
                              "{name: [{service: a.A}, {service: b.B, method: M}], timeout: 2s},"
                              "{name: [{service: a.A, method: N}], timeout: 3s}]}"),
                     "routes"),
            "  - match: {method: \"/b.B/M\"}\n"
            "    upstream: anywhere\n"
            "    policy: a.A\n"
            "  - match: {method: \"/a.A/N\"}\n"
            "    upstream: anywhere\n"
            "    policy: a.A.N\n"
            "  - match: {method: \"/a.A/*\"}\n"
            "    upstream: anywhere\n"
            "    policy: a.A\n"
            "  - upstream: anywhere\n"
            "    policy: default\n");
}

TEST(GrpcNames, MethodsThatNobodyNamesAreNotRetried) {
  const std::string yaml = FromGrpc("{methodConfig: [{name: [{service: a.A}]}]}");
  EXPECT_EQ(ValuesOf(yaml, "routes"),
            "  - match: {method: \"/a.A/*\"}\n"
            "    upstream: anywhere\n"
            "    policy: a.A\n"
            "  - upstream: anywhere\n"
            "    policy: no-retries\n");
  EXPECT_EQ(ValuesOf(yaml, "policies"),
            "  - name: a.A\n"
            "    retry:\n"
            "      max_attempts: 1\n"
            "  - name: no-retries\n"
            "    retry:\n"
            "      max_attempts: 1\n");
}

TEST(GrpcNames, WhatGrpcRefusesIsAFault) {
  EXPECT_EQ(FaultsOfGrpc("{methodConfig: [\n{name: [{service: a.A}]},\n{name: [{service: a.A}]}]}"),
            "f:3:9: methodConfig[1].name[0]: is named twice; first in line 2");
  EXPECT_EQ(FaultsOfGrpc("{methodConfig: [{name: [{method: M}]}]}"),
            "f:1:34: methodConfig[0].name[0].method: needs a service");
  EXPECT_EQ(FaultsOfGrpc("{methodConfig: [{name: [{service: \"a.*\"}, {service: /a.A}]}]}"),
            "f:1:35: methodConfig[0].name[0].service: \"a.*\" is not a name; say pkg.Service and "
            "Method\n"
            "f:1:53: methodConfig[0].name[1].service: \"/a.A\" is not a name; say pkg.Service and "
            "Method");
}

TEST(GrpcNames, AConfigWithoutNamesIsLeftOutWithAComment) {
  const std::string yaml = FromGrpc("{methodConfig: [{timeout: 1s}]}");
  EXPECT_THAT(CommentsOf(yaml), HasSubstr("Left out: methodConfig[0], line 1, which names no "));
  EXPECT_THAT(ValuesOf(yaml, "policies"), Not(HasSubstr("timeout")));
}

TEST(GrpcTimeout, IsTheCallsTimeout) {
  EXPECT_EQ(PolicyFor("timeout: 1.5s"),
            "  - name: shop.Cart.Get\n"
            "    timeout: 1.5s\n"
            "    retry:\n"
            "      max_attempts: 1\n");
}

TEST(GrpcTimeout, ThatHasNoEquivalentIsAComment) {
  const std::string yaml = FromGrpc("{methodConfig: [{name: [{}], timeout: 0s}]}");
  EXPECT_THAT(CommentsOf(yaml), HasSubstr("timeout: 0s has no equivalent"));
  EXPECT_THAT(ValuesOf(yaml, "policies"), Not(HasSubstr("timeout")));
  EXPECT_THAT(FromGrpc("{methodConfig: [{name: [{}], timeout: 315576000000s}]}"),
              HasSubstr("    # 87660000h is longer than a year, the longest that Levee takes.\n"
                        "    timeout: 8760h\n"));
}

TEST(GrpcMethodConfig, WhatHasNoEquivalentIsACommentWhereItWouldStand) {
  EXPECT_THAT(FromGrpc("{methodConfig: [{name: [{}], timeout: 1s, "
                       "maxRequestMessageBytes: 1024, maxResponseMessageBytes: \"2048\"}]}"),
              HasSubstr("  - name: default\n"
                        "    # maxRequestMessageBytes: 1024 has no equivalent: Levee passes on "
                        "messages of any size.\n"
                        "    # maxResponseMessageBytes: 2048 has no equivalent: Levee passes on "
                        "messages of any size.\n"
                        "    timeout: 1s\n"));
}

TEST(GrpcMethodConfig, MethodsThatWaitForReadyHaveAnUpstreamThatWaits) {
  const std::string yaml = FromGrpc(
      "{methodConfig: [{name: [{service: a.Patient}], waitForReady: true}, "
      "{name: [{service: a.Quick}], waitForReady: false}]}");
  EXPECT_THAT(yaml, HasSubstr("  # waitForReady: true: calls wait for a connection, as gRPC's do, "
                              "until their deadlines.\n"
                              "  - name: patient\n"
                              "    endpoints: [\"authority:\"]\n"
                              "    connect_wait: 1h\n"));
  EXPECT_THAT(yaml, HasSubstr("  - match: {method: \"/a.Patient/*\"}\n    upstream: patient\n"));
  EXPECT_THAT(yaml, HasSubstr("  - match: {method: \"/a.Quick/*\"}\n    upstream: anywhere\n"));
}

TEST(GrpcRetryPolicy, IsRetriedAtTheSameFailuresAndDelays) {
  EXPECT_EQ(PolicyFor(RetryPolicyWith(absl::StrCat(
                "maxAttempts: 4, ", kBackoff, ", retryableStatusCodes: [14, aborted, ABORTED]"))),
            "  - name: shop.Cart.Get\n"
            "    retry:\n"
            "      max_attempts: 4\n"
            "      codes: [UNAVAILABLE, ABORTED]\n"
            "      failures: [refused, connect, reset]\n"
            "      backoff: {initial: 100ms, multiplier: 2, max: 1s, jitter: {factor: 0.2}}\n"
            "      commit: headers\n");
}

TEST(GrpcRetryPolicy, LostConnectionsAreRetriedOnlyAsUnavailable) {
  EXPECT_THAT(FromGrpc(kRetrying),
              HasSubstr("      # To gRPC a lost connection is UNAVAILABLE too, hence reset: a call "
                        "that had reached the\n"
                        "      # server may run twice.\n"
                        "      failures: [refused, connect, reset]\n"));
  EXPECT_THAT(PolicyFor(RetryPolicyWith(
                  absl::StrCat("maxAttempts: 4, ", kBackoff, ", retryableStatusCodes: [ABORTED]"))),
              HasSubstr("      codes: [ABORTED]\n"
                        "      failures: []\n"));
}

TEST(GrpcRetryPolicy, MoreThanFiveAttemptsAreFive) {
  EXPECT_THAT(FromGrpc(Retrying(absl::StrCat("maxAttempts: 9, ", kBackoff, ", ", kUnavailable))),
              HasSubstr("      # maxAttempts is 9, which gRPC treats as 5.\n"
                        "      max_attempts: 5\n"));
}

TEST(GrpcRetryPolicy, APerAttemptTimeoutIsRetried) {
  EXPECT_THAT(PolicyFor(RetryPolicyWith(
                  absl::StrCat("maxAttempts: 2, perAttemptRecvTimeout: 0.5s, ", kBackoff))),
              HasSubstr("      codes: []\n"
                        "      failures: [timeout]\n"
                        "      attempt_timeout: 500ms\n"));
}

TEST(GrpcRetryPolicy, BackoffThatAPolicyRefusesIsBounded) {
  EXPECT_THAT(
      FromGrpc("{methodConfig: [{name: [{}], retryPolicy: {maxAttempts: 2, initialBackoff: "
               "2s, maxBackoff: 1s, backoffMultiplier: 0.5, retryableStatusCodes: [14]}}]}"),
      HasSubstr("      # backoffMultiplier is 0.5; Levee takes 1 to 1000.\n"
                "      # initialBackoff is 2s, which maxBackoff bounds.\n"
                "      backoff: {initial: 1s, multiplier: 1, max: 1s, jitter: {factor: "
                "0.2}}\n"));
}

TEST(GrpcRetryPolicy, DurationsAboveAYearAreBounded) {
  const std::string yaml = FromGrpc(
      "{methodConfig: [{name: [{}], retryPolicy: {maxAttempts: 2, initialBackoff: 1s, maxBackoff: "
      "99999999999s, backoffMultiplier: 2, retryableStatusCodes: [14]}},"
      "{name: [{service: a.A}], hedgingPolicy: {maxAttempts: 2, hedgingDelay: 99999999999s}}]}");
  EXPECT_THAT(ValuesOf(yaml, "policies"), HasSubstr("max: 8760h,"));
  EXPECT_THAT(ValuesOf(yaml, "policies"), HasSubstr("hedge: {delay: 8760h,"));
}

TEST(GrpcRetryPolicy, WhatGrpcRefusesIsAFaultWithItsPlace) {
  EXPECT_EQ(FaultsOfGrpc("{methodConfig: [{name: [{}],\n"
                         "retryPolicy: {\n"
                         "maxAttempts: 1,\n"
                         "initialBackoff: 0s,\n"
                         "maxBackoff: 100ms,\n"
                         "retryableStatusCodes: [UNAVAILABEL, 17, OK]}}]}"),
            "f:2:1: methodConfig[0].retryPolicy.backoffMultiplier: must be given and above 0\n"
            "f:3:14: methodConfig[0].retryPolicy.maxAttempts: must be given and at least 2\n"
            "f:4:17: methodConfig[0].retryPolicy.initialBackoff: must be given and above 0s\n"
            "f:5:13: methodConfig[0].retryPolicy.maxBackoff: \"100ms\" is not a duration; they are "
            "seconds, as in 0.25s\n"
            "f:6:24: methodConfig[0].retryPolicy.retryableStatusCodes[0]: \"UNAVAILABEL\" is not a "
            "gRPC status code; did you mean UNAVAILABLE?\n"
            "f:6:37: methodConfig[0].retryPolicy.retryableStatusCodes[1]: \"17\" is not a gRPC "
            "status code; they are 1 to 16\n"
            "f:6:41: methodConfig[0].retryPolicy.retryableStatusCodes[2]: \"OK\" is success; name "
            "a code that means failure");
  EXPECT_EQ(FaultsOfGrpc(Retrying(absl::StrCat("maxAttempts: 2, ", kBackoff))),
            "f:1:30: methodConfig[0].retryPolicy.retryableStatusCodes: must be given and name at "
            "least one code");
}

TEST(GrpcHedgingPolicy, IsHedgeOfAMethodThatMayRunTwice) {
  const std::string yaml = FromGrpc(
      "{methodConfig: [{name: [{}], hedgingPolicy: {maxAttempts: 4, hedgingDelay: 0.5s, "
      "nonFatalStatusCodes: [UNAVAILABLE, internal]}}]}");
  EXPECT_EQ(ValuesOf(yaml, "policies"),
            "  - name: default\n"
            "    retry:\n"
            "      max_attempts: 1\n"
            "    hedge: {delay: 500ms, max_attempts: 4, non_fatal: [UNAVAILABLE, INTERNAL]}\n"
            "    idempotency: {mode: always}\n");
  EXPECT_THAT(CommentsOf(yaml), HasSubstr("A hedgingPolicy says that the methods may run more"));
}

TEST(GrpcHedgingPolicy, HasGrpcsDefaults) {
  EXPECT_THAT(PolicyFor("hedgingPolicy: {maxAttempts: 2}"),
              HasSubstr("    hedge: {delay: 0s, max_attempts: 2, non_fatal: []}\n"));
}

TEST(GrpcHedgingPolicy, ExcludesARetryPolicy) {
  EXPECT_THAT(FaultsOfGrpc("{methodConfig: [{name: [{}], hedgingPolicy: {maxAttempts: 2}, "
                           "retryPolicy: {maxAttempts: 2}}]}"),
              HasSubstr("f:1:30: methodConfig[0].hedgingPolicy: excludes retryPolicy, which is "
                        "given too\n"));
}

TEST(GrpcThrottling, IsTheBudgetOfWhatIsRetried) {
  const std::string yaml = FromGrpc(
      "{methodConfig: [{name: [{service: a.A}], hedgingPolicy: {maxAttempts: 2}}, "
      "{name: [{}], " +
      RetryPolicyWith(absl::StrCat("maxAttempts: 2, ", kBackoff, ", ", kUnavailable)) +
      "}, {name: [{service: b.B}], timeout: 1s}], "
      "retryThrottling: {maxTokens: 10, tokenRatio: 0.25}}");
  EXPECT_EQ(ValuesOf(yaml, "policies"),
            "  - name: a.A\n"
            "    retry:\n"
            "      max_attempts: 1\n"
            "      budget: {ratio: 0.25}\n"
            "    hedge: {delay: 0s, max_attempts: 2, non_fatal: []}\n"
            "    idempotency: {mode: always}\n"
            "  - name: default\n"
            "    retry:\n"
            "      max_attempts: 2\n"
            "      codes: [UNAVAILABLE]\n"
            "      failures: [refused, connect, reset]\n"
            "      backoff: {initial: 100ms, multiplier: 2, max: 1s, jitter: {factor: 0.2}}\n"
            "      budget: {ratio: 0.25}\n"
            "      commit: headers\n"
            "  - name: b.B\n"
            "    timeout: 1s\n"
            "    retry:\n"
            "      max_attempts: 1\n");
  EXPECT_THAT(CommentsOf(yaml), HasSubstr("retries about the first 5 failures"));
}

TEST(GrpcThrottling, ItsAbsenceIsSaid) {
  EXPECT_THAT(CommentsOf(FromGrpc(kRetrying)),
              HasSubstr("There is no retryThrottling, so gRPC retries without bound"));
}

TEST(GrpcThrottling, WithoutRetriesHasNoEffect) {
  EXPECT_THAT(CommentsOf(FromGrpc("{retryThrottling: {maxTokens: 10, tokenRatio: 0.1}}")),
              HasSubstr("retryThrottling has no effect"));
}

TEST(GrpcThrottling, WhatGrpcRefusesIsAFault) {
  EXPECT_EQ(FaultsOfGrpc("{retryThrottling: {maxTokens: 1001}}"),
            "f:1:2: retryThrottling.tokenRatio: must be given and above 0\n"
            "f:1:31: retryThrottling.maxTokens: must be given, above 0 and at most 1000");
}

TEST(GrpcServiceConfig, SaysWhatTheApplicationShouldChange) {
  EXPECT_THAT(CommentsOf(FromGrpc(kRetrying)),
              HasSubstr("Take retryPolicy and hedgingPolicy out of the application's own service "
                        "config"));
  EXPECT_THAT(CommentsOf(FromGrpc("{}")), Not(HasSubstr("Take retryPolicy")));
}

// Go reads keys in upper and lower case alike.
TEST(GrpcServiceConfig, KeysAreReadInAnyCase) {
  const std::string yaml = FromGrpc(
      "{\"loadBalancingConfig\": [{\"round_robin\": {}}],\n"
      " \"methodConfig\": [{\"name\": [{\"service\": \"shop.Cart\"}], \"waitForReady\": true,\n"
      "  \"retryPolicy\": {\"MaxAttempts\": 4, \"InitialBackoff\": \".01s\", \"MaxBackoff\": "
      "\".01s\", \"BackoffMultiplier\": 1.0, \"RetryableStatusCodes\": [\"UNAVAILABLE\"]}}]}");
  EXPECT_EQ(CallIn(yaml, "a:1", "/shop.Cart/Get"), "patient, 4 attempts");
  EXPECT_EQ(CallIn(yaml, "a:1", "/shop.Other/Get"), "anywhere, 1 attempt");
  EXPECT_THAT(
      ValuesOf(yaml, "policies"),
      HasSubstr("backoff: {initial: 10ms, multiplier: 1, max: 10ms, jitter: {factor: 0.2}}"));
  EXPECT_THAT(CommentsOf(FromGrpc("{MethodConfig: [{Name: [{}], TimeOut: 1s, Other: 1}]}")),
              HasSubstr("Not read in MethodConfig[0]: Other."));
  EXPECT_THAT(FaultsOfGrpc("{methodConfig: [{name: [{}], timeout: 1s, Timeout: 2s}]}"),
              HasSubstr("Timeout: is given twice"));
}

// Generators of clients have files of the same form, without maxAttempts.
TEST(GrpcServiceConfig, OfAGeneratedClientTriesUntilTheTimeout) {
  const std::string text =
      "{\"methodConfig\": [{\"name\": [{\"service\": \"shop.v1.Cart\", \"method\": \"GetItem\"}], "
      "\"timeout\": \"60s\",\n"
      "  \"retryPolicy\": {\"initialBackoff\": \"0.100s\", \"maxBackoff\": \"60s\", "
      "\"backoffMultiplier\": 1.3, \"retryableStatusCodes\": [\"UNAVAILABLE\"]}},\n"
      "  {\"name\": [{\"service\": \"shop.v1.Cart\", \"method\": \"AddItem\"}], \"timeout\": "
      "\"60s\"}]}";
  const std::string yaml = FromGrpc(text);
  EXPECT_EQ(CallIn(yaml, "a:1", "/shop.v1.Cart/GetItem"), "anywhere, 100 attempts");
  EXPECT_EQ(CallIn(yaml, "a:1", "/shop.v1.Cart/AddItem"), "anywhere, 1 attempt");
  EXPECT_THAT(ValuesOf(yaml, "policies"),
              HasSubstr("    timeout: 1m\n    retry:\n      max_attempts: 100\n"));
  EXPECT_THAT(ValuesOf(yaml, "policies"),
              HasSubstr("backoff: {initial: 100ms, multiplier: 1.3, max: 1m, jitter: full}"));
}

TEST(GrpcServiceConfig, ForGoNeedsANumberOfAttemptsAsGoDoes) {
  EXPECT_EQ(
      FaultsOfGrpc("{methodConfig: [{name: [{}], retryPolicy: {InitialBackoff: 1s, MaxBackoff: "
                   "1s, BackoffMultiplier: 1, RetryableStatusCodes: [UNAVAILABLE]}}]}"),
      "f:1:30: methodConfig[0].retryPolicy.maxAttempts: must be given and at least 2");
}

TEST(GrpcServiceConfig, LoadBalancingAndHealthChecksAreCommentsAtTheUpstream) {
  EXPECT_THAT(
      SectionOf(FromGrpc("{loadBalancingConfig: [{round_robin: {}}], loadBalancingPolicy: "
                         "round_robin, healthCheckConfig: {serviceName: \"\"}}"),
                "upstreams"),
      HasSubstr(
          "  # loadBalancingPolicy has no equivalent: Levee itself spreads attempts over the "
          "endpoints that are\n"
          "  # ready.\n"
          "  # loadBalancingConfig has no equivalent: Levee itself spreads attempts over the "
          "endpoints that are\n"
          "  # ready.\n"
          "  # healthCheckConfig (service \"\") has no equivalent: an endpoint is ready when it "
          "can be reached.\n"
          "  - name: anywhere\n"));
}

TEST(GrpcServiceConfig, UnknownFieldsBecomeComments) {
  const std::string comments = CommentsOf(FromGrpc(
      "{xds: 1, methodConfig: [{name: [{service: a.A, extra: 1}], method_timeout: 1s, retryPolicy: "
      "{maxAttempts: 2, initialBackoff: 1s, maxBackoff: 1s, backoffMultiplier: 1, jitter: 1, "
      "retryableStatusCodes: [14]}}], retryThrottling: {maxTokens: 1, tokenRatio: 1, other: 1}}"));
  EXPECT_THAT(comments, HasSubstr("Not read in the file: xds."));
  EXPECT_THAT(comments, HasSubstr("Not read in methodConfig[0].name[0]: extra."));
  EXPECT_THAT(comments, HasSubstr("Not read in methodConfig[0]: method_timeout."));
  EXPECT_THAT(comments, HasSubstr("Not read in methodConfig[0].retryPolicy: jitter."));
  EXPECT_THAT(comments, HasSubstr("Not read in retryThrottling: other."));
}

TEST(GrpcServiceConfig, ATextThatIsNotJsonIsCalledSo) {
  EXPECT_EQ(FaultsOfGrpc("# Title\n\nSome text: a colon: another\n"),
            "f:3:19: LV101 this is not JSON: illegal map value");
  EXPECT_EQ(FaultsOfGrpc("hello"),
            "f:1:1: this is not JSON, but a plain text; a service config is an object");
  // A policy, or the configuration of another program.
  EXPECT_EQ(FaultsOfGrpc("routes: [{upstream: anywhere}]\n"),
            "f:1:1: this is not JSON, and it has no field of a service config");
}

TEST(GrpcServiceConfig, MayBeYaml) {
  EXPECT_EQ(FaultsOfGrpc("methodConfig:\n  - name: [{service: a.A}]\n"), "");
  EXPECT_EQ(FaultsOfGrpc(" {\"xds\": 1}"), "");
}

TEST(GrpcServiceConfig, WhatIsNoServiceConfigIsAFault) {
  EXPECT_EQ(FaultsOfGrpc("{\"methodConfig\": [}"),
            "f:1:19: LV101 this is not JSON: illegal flow end");
  EXPECT_EQ(FaultsOfGrpc(""), "f: is empty");
  EXPECT_EQ(FaultsOfGrpc("[{serviceConfig: {}}]"),
            "f:1:1: is a list; if these are service config choices, import one's serviceConfig");
  EXPECT_EQ(FaultsOfGrpc("{methodConfig: {name: []}}"),
            "f:1:2: methodConfig: is a mapping; write a list");
}

std::string OfOneService(const std::string& service, const std::string& throttling) {
  return absl::StrCat(
      "{methodConfig: [{name: [{service: ", service, "}], ",
      RetryPolicyWith(absl::StrCat("maxAttempts: 3, ", kBackoff, ", ", kUnavailable)), "}]",
      throttling, "}");
}

TEST(GrpcServiceConfigs, OfSeveralFilesAreOnePolicyAndKeepTheirOwnBudgets) {
  const std::string yaml = Checked(ImportGrpcServiceConfig(
      {{"one", OfOneService("a.A", "")},
       {"other", OfOneService("b.B", ", retryThrottling: {maxTokens: 10, tokenRatio: 0.3}")}}));
  EXPECT_THAT(ValuesOf(yaml, "routes"),
              HasSubstr("  - match: {method: \"/a.A/*\"}\n    upstream: anywhere\n    policy: a.A\n"
                        "  - match: {method: \"/b.B/*\"}\n    upstream: anywhere\n    policy: b.B\n"
                        "  - upstream: anywhere\n    policy: no-retries\n"));
  const std::string policies = ValuesOf(yaml, "policies");
  const size_t other = policies.find("name: b.B");
  EXPECT_THAT(policies.substr(0, other), Not(HasSubstr("budget")));
  EXPECT_THAT(policies.substr(other), HasSubstr("budget: {ratio: 0.3}"));
  const std::string comments = CommentsOf(yaml);
  EXPECT_THAT(comments, HasSubstr("From methodConfig[0], line 1 of other."));
  EXPECT_THAT(comments, HasSubstr("There is no retryThrottling"));
}

TEST(GrpcServiceConfigs, AMethodThatTwoFilesNameIsAFaultWithBothPlaces) {
  const std::string text = OfOneService("a.A", "");
  EXPECT_EQ(FormatFaults(ImportGrpcServiceConfig({{"one", text}, {"other", text}}).faults),
            "other:1:25: methodConfig[0].name[0]: is named twice; first in line 1 of one");
}

}  // namespace
}  // namespace levee
