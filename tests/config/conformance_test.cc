// SPDX-License-Identifier: Apache-2.0
// Numbered checks of the conformance list that concern the configuration.
#include <string>

#include "config/faults_of.h"
#include "gtest/gtest.h"

namespace levee {
namespace {

// A policy whose backoff is this YAML; it begins in line 4, column 16.
std::string WithBackoff(const std::string& backoff) {
  return "policies:\n  - name: default\n    retry:\n      backoff: " + backoff + "\n";
}

TEST(Config, A5_CodeIsTheSameAsNumberUpperAndLowerCase) {
  const StatusCodeSet unavailable = {StatusCode::kUnavailable};
  EXPECT_EQ(RetryOf("{codes: [14]}").codes, unavailable);
  EXPECT_EQ(RetryOf("{codes: [\"14\"]}").codes, unavailable);
  EXPECT_EQ(RetryOf("{codes: [UNAVAILABLE]}").codes, unavailable);
  EXPECT_EQ(RetryOf("{codes: [unavailable]}").codes, unavailable);
  EXPECT_EQ(RetryOf("{codes: [Unavailable, 14]}").codes, unavailable);
  EXPECT_EQ(SnapshotOf("policies: [{name: default, retry: {codes: [14]}}]\n")->sha256,
            SnapshotOf("policies: [{name: default, retry: {codes: [unavailable]}}]\n")->sha256);
}

TEST(Config, A6_MaxAttemptsZeroIsRefusedWithItsPosition) {
  EXPECT_EQ(FaultsOf("policies:\n  - name: default\n    retry:\n      max_attempts: 0\n"),
            "f:4:21: LV201 policies[0].retry.max_attempts: 0 is too small; it must be at least 1");
  EXPECT_EQ(FaultsOf("policies:\n  - name: default\n    retry: {max_attempts: -3}\n"),
            "f:3:27: LV201 policies[0].retry.max_attempts: -3 is too small; it must be at least 1");
}

TEST(Config, A6_ZeroBackoffIsRefusedWithItsPosition) {
  EXPECT_EQ(
      FaultsOf(WithBackoff("{initial: 0ms}")),
      "f:4:26: LV201 policies[0].retry.backoff.initial: 0ms is too small; it must be above 0s");
  EXPECT_EQ(FaultsOf(WithBackoff("{initial: 1ms, max: 0s}")),
            "f:4:36: LV201 policies[0].retry.backoff.max: 0s is too small; it must be above 0s");
  EXPECT_EQ(FaultsOf(WithBackoff("{initial: 0}")),
            "f:4:26: LV204 policies[0].retry.backoff.initial: \"0\" has no unit; say 0ms or 0s");
}

TEST(Config, A6_NegativeBackoffIsRefusedWithItsPosition) {
  EXPECT_EQ(
      FaultsOf(WithBackoff("{initial: -25ms}")),
      "f:4:26: LV201 policies[0].retry.backoff.initial: -25ms is too small; it must be above 0s");
  EXPECT_EQ(
      FaultsOf(WithBackoff("{jitter: {add: -1s}}")),
      "f:4:31: LV201 policies[0].retry.backoff.jitter.add: -1s is too small; it must be above 0s");
  EXPECT_EQ(FaultsOf("upstreams:\n"
                     "  - {name: anywhere, endpoints: [\"authority:\"], reconnect: {max: -1s}}\n"),
            "f:2:66: LV201 upstreams[0].reconnect.max: -1s is too small; it must be above 0s");
}

TEST(Config, A6_ZeroAndNegativeDelaysOfEveryKindAreRefusedWithTheirPositions) {
  EXPECT_EQ(
      FaultsOf(WithBackoff("{constant: 0s}")),
      "f:4:27: LV201 policies[0].retry.backoff.constant: 0s is too small; it must be above 0s");
  EXPECT_EQ(
      FaultsOf(WithBackoff("{schedule: [1s, 0ms, -2s]}")),
      "f:4:32: LV201 policies[0].retry.backoff.schedule[1]: 0ms is too small; it must be above "
      "0s\n"
      "f:4:37: LV201 policies[0].retry.backoff.schedule[2]: -2s is too small; it must be above 0s");
  EXPECT_EQ(FaultsOf(WithBackoff("{slot: -1us}")),
            "f:4:23: LV201 policies[0].retry.backoff.slot: -1us is too small; it must be above 0s");
  EXPECT_EQ(FaultsOf(WithBackoff("{max_elapsed: 0s}")),
            "f:4:30: LV201 policies[0].retry.backoff.max_elapsed: 0s is too small; it must be "
            "above 0s, or none");
  EXPECT_EQ(
      FaultsOf("policies:\n"
               "  - name: default\n"
               "    retry: {rules: [{http: [408], backoff: {constant: -1s}}]}\n"),
      "f:3:55: LV201 policies[0].retry.rules[0].backoff.constant: -1s is too small; it must be "
      "above 0s");
}

TEST(Config, A6_AttemptsOfRulesAndHedgesAreBounded) {
  EXPECT_EQ(
      PolicyFaults("retry: {rules: [{http: [408], max_attempts: 0}]}"),
      "f:2:45: LV201 policies[0].retry.rules[0].max_attempts: 0 is too small; it must be at least "
      "1");
  EXPECT_EQ(PolicyFaults("hedge: {delay: 1s, max_attempts: 1}"),
            "f:2:34: LV201 policies[0].hedge.max_attempts: 1 is too small; it must be at least 2");
}

TEST(Config, A6_MultiplierBelowOneIsRefusedWithItsPosition) {
  EXPECT_EQ(
      FaultsOf(WithBackoff("{multiplier: 0.99}")),
      "f:4:29: LV201 policies[0].retry.backoff.multiplier: 0.99 is too small; it must be at least "
      "1");
  EXPECT_EQ(FaultsOf(WithBackoff("{multiplier: 1}")), "");
}

TEST(Config, A6_UnknownCodesAreRefusedWithTheirPositions) {
  EXPECT_EQ(FaultsOf("policies:\n"
                     "  - name: default\n"
                     "    retry:\n"
                     "      codes:\n"
                     "        - UNAVAILABEL\n"
                     "        - ABORTED\n"
                     "        - 17\n"
                     "        - -1\n"
                     "        - OK\n"
                     "        - 0\n"),
            "f:5:11: LV206 policies[0].retry.codes[0]: \"UNAVAILABEL\" is not a gRPC status code; "
            "did you "
            "mean UNAVAILABLE?\n"
            "f:7:11: LV206 policies[0].retry.codes[2]: \"17\" is not a gRPC status code; they are "
            "1 to 16\n"
            "f:8:11: LV206 policies[0].retry.codes[3]: \"-1\" is not a gRPC status code; they are "
            "1 to 16\n"
            "f:9:11: LV206 policies[0].retry.codes[4]: \"OK\" is success; name a code that means "
            "failure\n"
            "f:10:11: LV206 policies[0].retry.codes[5]: \"0\" is success; name a code that means "
            "failure");
  EXPECT_EQ(
      PolicyFaults("retry: {codes: [\"503\"]}"),
      "f:2:17: LV206 policies[0].retry.codes[0]: \"503\" is an HTTP status, not a gRPC status "
      "code; HTTP statuses to retry stand in retry: {http: [503]}");
  EXPECT_EQ(PolicyFaults("retry: {rules: [{codes: [ABORTD]}]}"),
            "f:2:26: LV206 policies[0].retry.rules[0].codes[0]: \"ABORTD\" is not a gRPC status "
            "code; did "
            "you mean ABORTED?");
  EXPECT_EQ(
      PolicyFaults("hedge: {delay: 1s, non_fatal: [0]}"),
      "f:2:32: LV206 policies[0].hedge.non_fatal[0]: \"0\" is success; name a code that means "
      "failure");
  EXPECT_EQ(
      FaultsOf("overload:\n  status: TEAPOT\n"),
      "f:2:11: LV206 overload.status: \"TEAPOT\" is not a gRPC status code; they are: CANCELLED, "
      "UNKNOWN, INVALID_ARGUMENT, DEADLINE_EXCEEDED, NOT_FOUND, ALREADY_EXISTS, "
      "PERMISSION_DENIED, RESOURCE_EXHAUSTED, FAILED_PRECONDITION, ABORTED, OUT_OF_RANGE, "
      "UNIMPLEMENTED, INTERNAL, UNAVAILABLE, DATA_LOSS, UNAUTHENTICATED");
}

}  // namespace
}  // namespace levee
