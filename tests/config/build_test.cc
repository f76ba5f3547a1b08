// SPDX-License-Identifier: Apache-2.0
// Every supported field arrives in the snapshot.
#include "config/build.h"

#include "absl/time/time.h"
#include "config/faults_of.h"
#include "gtest/gtest.h"

namespace levee {
namespace {

TEST(Build, ListenersMetricsAndTheirPositions) {
  const auto snapshot = SnapshotOf(
      "listeners:\n"
      "  - {name: a, address: 0.0.0.0:80, direction: egress, capture: [connect, h2c]}\n"
      "  - name: b\n"
      "    address: \"[::1]:0\"\n"
      "metrics: {address: localhost:81}\n");
  ASSERT_EQ(snapshot->listeners.size(), 2u);
  EXPECT_EQ(snapshot->listeners[0].name, "a");
  EXPECT_EQ(snapshot->listeners[0].address.host, "0.0.0.0");
  EXPECT_EQ(snapshot->listeners[0].address.port, 80);
  EXPECT_EQ(snapshot->listeners[0].address.position, "f:2:24: listeners[0].address");
  EXPECT_EQ(snapshot->listeners[1].name, "b");
  EXPECT_EQ(snapshot->listeners[1].address.host, "::1");
  EXPECT_EQ(snapshot->listeners[1].address.port, 0);
  EXPECT_EQ(snapshot->listeners[1].address.position, "f:4:14: listeners[1].address");
  ASSERT_TRUE(snapshot->metrics.has_value());
  EXPECT_EQ(snapshot->metrics->host, "127.0.0.1");
  EXPECT_EQ(snapshot->metrics->position, "f:5:20: metrics.address");
}

TEST(Build, MetricsAndAdminCanBeSwitchedOff) {
  const auto snapshot = SnapshotOf("metrics: {address: none}\nadmin: {address: none}\n");
  EXPECT_FALSE(snapshot->metrics.has_value());
  EXPECT_FALSE(snapshot->admin.has_value());
}

TEST(Build, Upstreams) {
  const auto snapshot = SnapshotOf(
      "upstreams:\n"
      "  - name: cart\n"
      "    endpoints: [10.0.0.7:50051, \"[fd00::7]:50051\", localhost:1]\n"
      "    connect_timeout: 250ms\n"
      "    connect_wait: 10s\n"
      "    reconnect: {initial: 1s, multiplier: 1.5, max: 3s, jitter: {add: 10ms}}\n"
      "    keepalive: {interval: 30s, timeout: 5s}\n"
      "    ejection: {failures: 9, success: 0, base: 1s}\n"
      "  - {name: anywhere, endpoints: [\"authority:\"], ejection: none}\n");
  ASSERT_EQ(snapshot->upstreams.size(), 2u);
  const UpstreamSpec& cart = snapshot->upstreams[0];
  EXPECT_EQ(cart.name, "cart");
  EXPECT_EQ(cart.keepalive_interval, absl::Seconds(30));
  EXPECT_EQ(cart.keepalive_timeout, absl::Seconds(5));
  EXPECT_EQ(cart.ejection, (EjectionPolicy{.failures = 9, .success = 0, .base = absl::Seconds(1)}));
  EXPECT_EQ(snapshot->upstreams[1].ejection, std::nullopt);
  EXPECT_EQ(cart.by, UpstreamSpec::By::kEndpoints);
  EXPECT_EQ(cart.connect_timeout, absl::Milliseconds(250));
  EXPECT_EQ(cart.connect_wait, absl::Seconds(10));
  EXPECT_EQ(cart.reconnect.initial, absl::Seconds(1));
  EXPECT_EQ(cart.reconnect.multiplier, 1.5);
  EXPECT_EQ(cart.reconnect.max, absl::Seconds(3));
  EXPECT_EQ(cart.reconnect.jitter, Jitter::kAdd);
  EXPECT_EQ(cart.reconnect.add, absl::Milliseconds(10));
  EXPECT_EQ(snapshot->upstreams[1].by, UpstreamSpec::By::kAuthority);
  ASSERT_EQ(snapshot->endpoints.size(), 1u);
  const EndpointList& endpoints = *snapshot->endpoints.at("cart");
  ASSERT_EQ(endpoints.size(), 3u);
  EXPECT_EQ(endpoints[0].kind, EndpointSpec::Kind::kAddress);
  EXPECT_EQ(endpoints[0].host, "10.0.0.7");
  EXPECT_EQ(endpoints[0].port, 50051);
  EXPECT_EQ(endpoints[1].host, "fd00::7");
  EXPECT_EQ(endpoints[2].host, "localhost");
}

TEST(Build, RoutesPointToUpstreamsAndPolicies) {
  const auto snapshot = SnapshotOf(
      "upstreams:\n"
      "  - {name: a, endpoints: [10.0.0.1:1]}\n"
      "  - {name: b, endpoints: [10.0.0.2:1]}\n"
      "routes:\n"
      "  - {match: {authority: \"b.shop:*\", method: /shop.B/*}, upstream: b, policy: patient}\n"
      "  - {upstream: a}\n"
      "policies: [{name: quick}, {name: patient}]\n");
  const std::vector<Route>& routes = snapshot->routes.routes();
  ASSERT_EQ(routes.size(), 2u);
  EXPECT_EQ(routes[0].authority, "b.shop:*");
  EXPECT_EQ(routes[0].method, "/shop.B/*");
  EXPECT_EQ(routes[0].upstream, 1);
  EXPECT_EQ(routes[0].policy, 1);
  EXPECT_EQ(routes[1].authority, "*");
  EXPECT_EQ(routes[1].upstream, 0);
  EXPECT_EQ(snapshot->policies[static_cast<size_t>(routes[1].policy)].name, "default");
  EXPECT_EQ(snapshot->routes.Find({.listener = {},
                                   .authority = "b.shop:80",
                                   .path = "/shop.B/Get",
                                   .peer = "",
                                   .headers = std::nullopt}),
            &routes[0]);
  EXPECT_EQ(snapshot->routes.Find({.listener = {},
                                   .authority = "c.shop:80",
                                   .path = "/shop.B/Get",
                                   .peer = "",
                                   .headers = std::nullopt}),
            &routes[1]);
}

TEST(Build, RetryPolicy) {
  const RetryPolicy retry = RetryOf(
      "{max_attempts: 5, codes: [ABORTED, 8], failures: [reset, timeout], attempt_timeout: 2s, "
      "buffer: 1MiB, commit: headers, hold: 0ms, exhausted: keep, app_retries: count, "
      "app_retries_loops: ignore, "
      "min_remaining: off, mode: observe, http: [429, 5xx]}");
  EXPECT_EQ(retry.max_attempts, 5);
  EXPECT_EQ(retry.codes, (StatusCodeSet{StatusCode::kAborted, StatusCode::kResourceExhausted}));
  EXPECT_FALSE(retry.failures.refused);
  EXPECT_FALSE(retry.failures.connect);
  EXPECT_TRUE(retry.failures.reset);
  EXPECT_TRUE(retry.failures.timeout);
  EXPECT_EQ(retry.attempt_timeout, absl::Seconds(2));
  EXPECT_EQ(retry.buffer_bytes, 1u << 20);
  EXPECT_EQ(retry.commit, CommitMode::kHeaders);
  EXPECT_EQ(retry.hold, absl::ZeroDuration());
  EXPECT_EQ(retry.exhausted, ExhaustedMode::kKeep);
  EXPECT_EQ(retry.app_retries, AppRetries::kCount);
  EXPECT_EQ(retry.app_retries_loops, AppRetries::kIgnore);
  EXPECT_FALSE(retry.min_remaining);
  EXPECT_EQ(retry.mode, RetryMode::kObserve);
  EXPECT_TRUE(retry.http.Has(429));
  EXPECT_TRUE(retry.http.Has(500));
  EXPECT_TRUE(retry.http.Has(599));
  EXPECT_FALSE(retry.http.Has(428));
  EXPECT_FALSE(retry.http.Has(499));
}

TEST(Build, EmptyListsAreNotTheDefault) {
  const RetryPolicy retry = RetryOf("{codes: [], failures: []}");
  EXPECT_TRUE(retry.codes.empty());
  EXPECT_FALSE(retry.failures.refused);
  EXPECT_FALSE(retry.failures.connect);
  EXPECT_FALSE(SnapshotOf("overload: {honor: []}\n")->overload.honor.levee);
}

TEST(Build, EveryModeHasItsWord) {
  EXPECT_EQ(RetryOf("{exhausted: auto}").exhausted, ExhaustedMode::kAuto);
  EXPECT_EQ(RetryOf("{exhausted: replace}").exhausted, ExhaustedMode::kReplace);
  EXPECT_EQ(RetryOf("{exhausted: mark}").exhausted, ExhaustedMode::kMark);
  EXPECT_EQ(RetryOf("{app_retries: limit}").app_retries, AppRetries::kLimit);
  EXPECT_EQ(RetryOf("{app_retries: ignore}").app_retries, AppRetries::kIgnore);
  EXPECT_EQ(RetryOf("{commit: auto}").commit, CommitMode::kAuto);
  EXPECT_TRUE(RetryOf("{min_remaining: p50}").min_remaining);
  EXPECT_EQ(RetryOf("{mode: enforce}").mode, RetryMode::kEnforce);
  const auto mode = [](const std::string& word) {
    return PolicyOf("idempotency: {mode: " + word + "}").idempotency;
  };
  EXPECT_EQ(mode("auto"), IdempotencyMode::kAuto);
  EXPECT_EQ(mode("always"), IdempotencyMode::kAlways);
  EXPECT_EQ(mode("never"), IdempotencyMode::kNever);
}

TEST(Build, EveryJitterHasItsForm) {
  const auto jitter = [](const std::string& form) {
    return RetryOf("{backoff: {jitter: " + form + "}}").backoff;
  };
  EXPECT_EQ(jitter("none").jitter, Jitter::kNone);
  EXPECT_EQ(jitter("full").jitter, Jitter::kFull);
  EXPECT_EQ(jitter("equal").jitter, Jitter::kEqual);
  EXPECT_EQ(jitter("decorrelated").jitter, Jitter::kDecorrelated);
  EXPECT_EQ(jitter("{factor: 0.2}").jitter, Jitter::kFactor);
  EXPECT_EQ(jitter("{factor: 0.2}").factor, 0.2);
  EXPECT_EQ(jitter("{add: 1s}").jitter, Jitter::kAdd);
  EXPECT_EQ(jitter("{add: 1s}").add, absl::Seconds(1));
}

TEST(Build, BackoffAndBudget) {
  const RetryPolicy retry = RetryOf(
      "{backoff: {initial: 10ms, multiplier: 3, max: 1m, max_advice: none}, "
      "budget: {ratio: 0.3, window: 5s, floor: {per_second: 0, min_success: 0.5}, "
      "burst: {least: 3, span: 2s}}}");
  EXPECT_EQ(retry.backoff.initial, absl::Milliseconds(10));
  EXPECT_EQ(retry.backoff.multiplier, 3);
  EXPECT_EQ(retry.backoff.max, absl::Minutes(1));
  EXPECT_EQ(retry.backoff.max_advice, absl::InfiniteDuration());
  EXPECT_EQ(retry.budget.ratio, 0.3);
  EXPECT_EQ(retry.budget.window, absl::Seconds(5));
  EXPECT_EQ(retry.budget.floor_per_second, 0);
  EXPECT_EQ(retry.budget.floor_min_success, 0.5);
  EXPECT_EQ(retry.budget.burst_least, 3);
  EXPECT_EQ(retry.budget.burst_span, absl::Seconds(2));
}

TEST(Build, ARatioMayBeSoLargeThatNothingIsHeldBack) {
  EXPECT_EQ(RetryOf("{budget: {ratio: 1000}}").budget.ratio, 1000);
}

TEST(Build, OverloadLimitsAndDrain) {
  const auto snapshot = SnapshotOf(
      "overload: {status: unavailable, honor: [envoy, pushback]}\n"
      "limits: {replay_bytes: 1GiB, streams_per_connection: 7, metadata_bytes: 8KiB,\n"
      "         metadata_fields: 20, method_labels: 0, destinations: 1, connections: 2,\n"
      "         resets_per_second: 3, idle_frames_per_second: 4, header_block_bytes: 9KiB,\n"
      "         pending_frames: 11, output_bytes: 1MiB, send_timeout: 5s}\n"
      "drain: {timeout: 0s}\n");
  EXPECT_EQ(snapshot->overload.status, StatusCode::kUnavailable);
  EXPECT_FALSE(snapshot->overload.honor.levee);
  EXPECT_FALSE(snapshot->overload.honor.error_info);
  EXPECT_TRUE(snapshot->overload.honor.pushback);
  EXPECT_TRUE(snapshot->overload.honor.envoy);
  EXPECT_EQ(snapshot->limits.replay_bytes, 1 << 30);
  EXPECT_EQ(snapshot->limits.streams_per_connection, 7);
  EXPECT_EQ(snapshot->limits.metadata_bytes, 8 << 10);
  EXPECT_EQ(snapshot->limits.metadata_fields, 20);
  EXPECT_EQ(snapshot->limits.method_labels, 0);
  EXPECT_EQ(snapshot->limits.destinations, 1);
  EXPECT_EQ(snapshot->limits.connections, 2);
  EXPECT_EQ(snapshot->limits.resets_per_second, 3);
  EXPECT_EQ(snapshot->limits.idle_frames_per_second, 4);
  EXPECT_EQ(snapshot->limits.header_block_bytes, 9 << 10);
  EXPECT_EQ(snapshot->limits.pending_frames, 11);
  EXPECT_EQ(snapshot->limits.output_bytes, 1 << 20);
  EXPECT_EQ(snapshot->limits.send_timeout, absl::Seconds(5));
  EXPECT_EQ(snapshot->drain_timeout, absl::ZeroDuration());
}

TEST(Build, NoSendTimeoutIsInfinite) {
  const auto snapshot = SnapshotOf("limits: {send_timeout: none}\n");
  EXPECT_EQ(snapshot->limits.send_timeout, absl::InfiniteDuration());
}

TEST(Build, LimitsThatDependOnThePeerStayOpen) {
  for (const char* text : {"", "limits: {streams_per_connection: auto}\n"}) {
    const auto snapshot = SnapshotOf(text);
    EXPECT_EQ(snapshot->limits.streams_per_connection, 0);
    EXPECT_EQ(snapshot->limits.metadata_bytes, 0);
    EXPECT_EQ(snapshot->limits.metadata_fields, 0);
    EXPECT_EQ(snapshot->limits.header_block_bytes, 0);
  }
}

TEST(Build, Sha256IsOfTheMeaningNotOfTheSpelling) {
  const auto of = [](const std::string& text) { return SnapshotOf(text)->sha256; };
  EXPECT_EQ(of("drain: {timeout: 20s}\n"), of(""));
  EXPECT_EQ(of("drain: {timeout: 20000ms}\n"), of(""));
  EXPECT_EQ(of("limits: {replay_bytes: 16384KiB}\n"), of(""));
  EXPECT_EQ(of("overload: {status: 8}\n"), of(""));
  EXPECT_NE(of("drain: {timeout: 21s}\n"), of(""));
  EXPECT_NE(of("overload: {honor: []}\n"), of(""));
}

TEST(Build, TheHashWithoutEndpointsIsTheSameOnlyIfNothingButEndpointsDiffers) {
  const auto of = [](const std::string& upstream, const std::string& more = "") {
    const std::string first = "upstreams: [{name: a, ";
    return SnapshotOf(first + upstream +
                      "}, {name: b, endpoints: [10.0.0.9:1]}]\nroutes: [{upstream: a}]\n" + more);
  };
  const auto before = of("endpoints: [10.0.0.1:1]");
  for (const char* other : {"endpoints: [10.0.0.2:1]", "endpoints: [10.0.0.1:1, 10.0.0.2:1]",
                            "endpoints: [\"dns:a:1\"]", "endpoints: [\"unix:/a\"]"}) {
    const auto after = of(other);
    EXPECT_EQ(after->sha256_without_endpoints, before->sha256_without_endpoints) << other;
    EXPECT_NE(after->sha256, before->sha256) << other;
    EXPECT_NE(after->effective.yaml, before->effective.yaml) << other;
  }
  const auto hash = before->sha256_without_endpoints;
  EXPECT_NE(of("endpoints: [\"authority:\"]")->sha256_without_endpoints, hash);
  EXPECT_NE(of("endpoints: [10.0.0.1:1], connect_timeout: 2s")->sha256_without_endpoints, hash);
  EXPECT_NE(of("endpoints: [10.0.0.1:1]", "drain: {timeout: 21s}")->sha256_without_endpoints, hash);
}

TEST(Build, AliasesStandForTheirValue) {
  const auto snapshot = SnapshotOf(
      "policies:\n"
      "  - {name: a, retry: &retry {max_attempts: 7}}\n"
      "  - {name: b, retry: *retry}\n");
  EXPECT_EQ(snapshot->policies[1].retry.max_attempts, 7);
}

}  // namespace
}  // namespace levee
