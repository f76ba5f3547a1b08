// SPDX-License-Identifier: Apache-2.0
// The built-in default, value by value: examples and dashboards elsewhere rely on these.
#include "absl/time/time.h"
#include "config/faults_of.h"
#include "gtest/gtest.h"

namespace levee {
namespace {

TEST(Defaults, ListenOnLoopbackOnly) {
  const auto snapshot = SnapshotOf("");
  ASSERT_EQ(snapshot->listeners.size(), 1u);
  EXPECT_EQ(snapshot->listeners[0].name, "egress");
  EXPECT_EQ(snapshot->listeners[0].address.host, "127.0.0.1");
  EXPECT_EQ(snapshot->listeners[0].address.port, 9460);
  EXPECT_EQ(snapshot->listeners[0].address.position, "built-in default: listeners[0].address");
  ASSERT_TRUE(snapshot->metrics.has_value());
  EXPECT_EQ(snapshot->metrics->host, "127.0.0.1");
  EXPECT_EQ(snapshot->metrics->port, 9461);
  EXPECT_EQ(snapshot->metrics->position, "built-in default: metrics.address");
  ASSERT_TRUE(snapshot->admin.has_value());
  EXPECT_EQ(snapshot->admin->host, "127.0.0.1");
  EXPECT_EQ(snapshot->admin->port, 9462);
  EXPECT_FALSE(snapshot->grpc_admin.has_value());
}

TEST(Defaults, SendEveryCallToItsAuthority) {
  const auto snapshot = SnapshotOf("");
  ASSERT_EQ(snapshot->upstreams.size(), 1u);
  const UpstreamSpec& upstream = snapshot->upstreams[0];
  EXPECT_EQ(upstream.name, "anywhere");
  EXPECT_EQ(upstream.by, UpstreamSpec::By::kAuthority);
  EXPECT_TRUE(snapshot->endpoints.empty());
  EXPECT_EQ(upstream.methods, nullptr);
  EXPECT_EQ(upstream.connect_timeout, absl::Seconds(1));
  EXPECT_EQ(upstream.connect_wait, absl::ZeroDuration());
  EXPECT_EQ(upstream.reconnect.initial, absl::Milliseconds(100));
  EXPECT_EQ(upstream.reconnect.multiplier, 2);
  EXPECT_EQ(upstream.reconnect.max, absl::Seconds(10));
  EXPECT_EQ(upstream.reconnect.jitter, Jitter::kFull);
  ASSERT_EQ(snapshot->routes.routes().size(), 1u);
  const Route& route = snapshot->routes.routes()[0];
  EXPECT_EQ(route.authority, "*");
  EXPECT_EQ(route.method, "*");
  EXPECT_EQ(route.upstream, 0);
  EXPECT_EQ(route.policy, 0);
}

TEST(Defaults, PolicyIsTheContracts) {
  const auto snapshot = SnapshotOf("");
  ASSERT_EQ(snapshot->policies.size(), 1u);
  const CallPolicy& policy = snapshot->policies[0];
  EXPECT_EQ(policy.name, "default");
  EXPECT_EQ(policy.timeout, absl::InfiniteDuration());
  EXPECT_EQ(policy.idempotency, IdempotencyMode::kAuto);
  EXPECT_EQ(policy.retry.max_attempts, 3);
  EXPECT_EQ(policy.retry.codes, StatusCodeSet{StatusCode::kUnavailable});
  EXPECT_TRUE(policy.retry.failures.refused);
  EXPECT_TRUE(policy.retry.failures.connect);
  EXPECT_FALSE(policy.retry.failures.reset);
  EXPECT_FALSE(policy.retry.failures.timeout);
  EXPECT_EQ(policy.retry.attempt_timeout, absl::InfiniteDuration());
  EXPECT_EQ(policy.retry.buffer_bytes, 64u * 1024);
  EXPECT_EQ(policy.retry.commit, CommitMode::kAuto);
  EXPECT_EQ(policy.retry.hold, absl::Milliseconds(20));
  EXPECT_EQ(policy.retry.exhausted, ExhaustedMode::kAuto);
  EXPECT_EQ(policy.retry.app_retries, AppRetries::kLimit);
  EXPECT_EQ(policy.retry.app_retries_loops, AppRetries::kLimit);
  EXPECT_TRUE(policy.retry.http.empty());
  EXPECT_TRUE(policy.retry.min_remaining);
  EXPECT_EQ(policy.retry.mode, RetryMode::kEnforce);
  EXPECT_TRUE(policy.retry.rules.empty());
  EXPECT_FALSE(policy.hedge.has_value());
  EXPECT_EQ(policy.key_header, "");
  EXPECT_TRUE(policy.rate_limits.empty());
}

TEST(Defaults, BackoffAndBudgetAreTheContracts) {
  const RetryPolicy retry = RetryOf("{}");
  EXPECT_EQ(retry.backoff.initial, absl::Milliseconds(25));
  EXPECT_EQ(retry.backoff.multiplier, 2);
  EXPECT_EQ(retry.backoff.max, absl::Seconds(1));
  EXPECT_EQ(retry.backoff.jitter, Jitter::kFull);
  EXPECT_EQ(retry.backoff.kind, BackoffPolicy::Kind::kExponential);
  EXPECT_FALSE(retry.backoff.cap_after_jitter);
  EXPECT_EQ(retry.backoff.max_elapsed, absl::InfiniteDuration());
  EXPECT_EQ(retry.backoff.max_advice, absl::Seconds(60));
  EXPECT_EQ(retry.budget.ratio, 0.1);
  EXPECT_EQ(retry.budget.window, absl::Seconds(10));
  EXPECT_EQ(retry.budget.floor_per_second, 1);
  EXPECT_EQ(retry.budget.floor_min_success, 0.8);
  EXPECT_EQ(retry.budget.burst_least, 2);
  EXPECT_EQ(retry.budget.burst_span, absl::Seconds(1));
  EXPECT_EQ(retry.budget.wait, absl::Milliseconds(1100));
}

TEST(Defaults, ACallsRetriesAreToSpareWithinLimits) {
  for (const auto& [max_attempts, least] : {std::pair(1, 2), {3, 2}, {4, 3}, {10, 3}}) {
    const auto snapshot = SnapshotOf(
        absl::StrCat("policies: [{name: default, retry: {max_attempts: ", max_attempts, "}}]"));
    EXPECT_EQ(snapshot->policies[0].retry.budget.burst_least, least) << max_attempts;
  }
}

TEST(Defaults, OverloadLimitsAndDrainAreTheContracts) {
  const auto snapshot = SnapshotOf("");
  EXPECT_EQ(snapshot->overload.status, StatusCode::kResourceExhausted);
  EXPECT_TRUE(snapshot->overload.honor.levee);
  EXPECT_TRUE(snapshot->overload.honor.error_info);
  EXPECT_TRUE(snapshot->overload.honor.pushback);
  EXPECT_FALSE(snapshot->overload.honor.envoy);
  EXPECT_EQ(snapshot->limits.replay_bytes, 16 << 20);
  EXPECT_EQ(snapshot->limits.method_labels, 50);
  EXPECT_EQ(snapshot->limits.destinations, 1000);
  EXPECT_EQ(snapshot->limits.metric_series, 20'000);
  EXPECT_EQ(snapshot->limits.connections, 20'000);
  EXPECT_EQ(snapshot->limits.resets_per_second, 5000);
  EXPECT_EQ(snapshot->limits.idle_frames_per_second, 1000);
  EXPECT_EQ(snapshot->limits.pending_frames, 1000);
  EXPECT_EQ(snapshot->limits.output_bytes, 256 << 20);
  EXPECT_EQ(snapshot->limits.send_timeout, absl::Seconds(60));
  EXPECT_EQ(snapshot->drain_timeout, absl::Seconds(20));
}

TEST(Defaults, EmptyDocumentsAreTheBuiltInDefault) {
  const std::string sha256 = SnapshotOf("")->sha256;
  EXPECT_EQ(sha256.size(), 64u);
  EXPECT_EQ(LoadConfig({}).value()->sha256, sha256);
  EXPECT_EQ(SnapshotOf("# only a comment\n")->sha256, sha256);
  EXPECT_EQ(SnapshotOf("---\n")->sha256, sha256);
  EXPECT_EQ(SnapshotOf("{}\n")->sha256, sha256);
}

TEST(Defaults, FileWithPoliciesKeepsTheBuiltInDefaultPolicy) {
  const auto snapshot = SnapshotOf("policies: [{name: patient, timeout: 9s}]\n");
  ASSERT_EQ(snapshot->policies.size(), 2u);
  EXPECT_EQ(snapshot->policies[0].name, "patient");
  EXPECT_EQ(snapshot->policies[1].name, "default");
  EXPECT_EQ(snapshot->policies[1].timeout, absl::InfiniteDuration());
  EXPECT_EQ(snapshot->routes.routes()[0].policy, 1);
}

TEST(Defaults, PolicyNamedDefaultReplacesTheBuiltInOne) {
  const auto snapshot = SnapshotOf("policies: [{name: default, timeout: 9s}]\n");
  ASSERT_EQ(snapshot->policies.size(), 1u);
  EXPECT_EQ(snapshot->policies[0].timeout, absl::Seconds(9));
}

}  // namespace
}  // namespace levee
