// SPDX-License-Identifier: Apache-2.0
// Dashboards and alerts rely on the names, types, labels and buckets of the metrics.
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "telemetry/fake_gauges.h"
#include "telemetry/metrics.h"

namespace levee {
namespace {

using prometheus::MetricFamily;
using prometheus::MetricType;
using testing::ElementsAre;
using testing::ElementsAreArray;

struct Contract {
  MetricType type;
  std::vector<std::string> labels;
};

constexpr MetricType kCounter = MetricType::Counter;
constexpr MetricType kGauge = MetricType::Gauge;
constexpr MetricType kHistogram = MetricType::Histogram;

using Rows = std::map<std::string, Contract>;

Rows CallRows() {
  return {
      {"levee_streams_ended_total", {kCounter, {"upstream", "by"}}},
      {"levee_calls_total", {kCounter, {"upstream", "method", "code", "kind"}}},
      {"levee_attempts_total", {kCounter, {"upstream", "method", "code"}}},
      {"levee_call_attempts", {kHistogram, {"upstream", "method", "result"}}},
      {"levee_retries_total", {kCounter, {"upstream", "method", "trigger", "code"}}},
      {"levee_retries_refused_total", {kCounter, {"upstream", "method", "reason"}}},
      {"levee_call_retry_delay_seconds", {kHistogram, {"upstream"}}},
      {"levee_retry_backoff_seconds", {kHistogram, {"upstream"}}},
      {"levee_transparent_retries_total", {kCounter, {"upstream"}}},
      {"levee_retries_waiting", {kGauge, {"upstream"}}},
      {"levee_retries_waited_total", {kCounter, {"upstream", "result"}}},
      {"levee_retry_wait_seconds", {kHistogram, {"upstream"}}},
      {"levee_retry_budget_available", {kGauge, {"upstream"}}},
      {"levee_retry_budget_at_once", {kGauge, {"upstream"}}},
      {"levee_retry_budget_limit", {kGauge, {"upstream"}}},
      {"levee_retry_budget_floor_withheld", {kGauge, {"upstream"}}},
      {"levee_app_retries_total", {kCounter, {"upstream", "action", "seen_by"}}},
      {"levee_throttle_decisions_total", {kCounter, {"upstream", "decision"}}},
      {"levee_throttle_probability", {kGauge, {"upstream"}}},
      {"levee_overload_marks_total", {kCounter, {"upstream", "direction", "scope"}}},
  };
}

Rows OtherRows() {
  return {
      {"levee_tls_handshakes_total", {kCounter, {"upstream", "side", "result", "version"}}},
      {"levee_tls_handshake_seconds", {kHistogram, {"upstream", "side"}}},
      {"levee_tls_certificate_expiry_timestamp_seconds", {kGauge, {"upstream", "kind"}}},
      {"levee_tls_certificate_not_before_timestamp_seconds", {kGauge, {"upstream", "kind"}}},
      {"levee_tunnels", {kGauge, {}}},
      {"levee_tunnelled_bytes_total", {kCounter, {"direction"}}},
      {"levee_tunnel_failures_total", {kCounter, {"reason"}}},
      {"levee_guard_calls_total", {kCounter, {"upstream", "decision", "reason", "priority"}}},
      {"levee_guard_arrivals_total", {kCounter, {"upstream", "attempt"}}},
      {"levee_guard_queue_seconds", {kHistogram, {"upstream"}}},
      {"levee_guard_headers_ignored_total", {kCounter, {"header"}}},
      {"levee_broken_calls_total", {kCounter, {}}},
      {"levee_tie_total", {kCounter, {"what", "result"}}},
      {"levee_guard_limit", {kGauge, {"upstream"}}},
      {"levee_guard_limit_min", {kGauge, {"upstream"}}},
      {"levee_guard_in_flight", {kGauge, {"upstream"}}},
      {"levee_guard_streams", {kGauge, {"upstream"}}},
      {"levee_guard_queue_length", {kGauge, {"upstream"}}},
      {"levee_guard_reported_retry_share", {kGauge, {"upstream"}}},
      {"levee_dedupe_calls_total", {kCounter, {"upstream", "result"}}},
      {"levee_shadow_decisions_total", {kCounter, {"policy", "shadow", "outcome"}}},
      {"levee_dedupe_keys", {kGauge, {"upstream"}}},
      {"levee_dedupe_bytes", {kGauge, {"upstream"}}},
      {"levee_dedupe_evicted_total", {kCounter, {"upstream"}}},
      {"levee_rate_limit_lease", {kGauge, {"limit", "state"}}},
      {"levee_store_requests_total", {kCounter, {"store", "result"}}},
      {"levee_store_seconds", {kHistogram, {"store"}}},
      {"levee_store_connected", {kGauge, {"store"}}},
      {"levee_rate_limit_decisions_total", {kCounter, {"policy", "limit", "decision"}}},
      {"levee_call_duration_seconds", {kHistogram, {"upstream", "method"}}},
      {"levee_attempt_duration_seconds", {kHistogram, {"upstream"}}},
      {"levee_active_calls", {kGauge, {"kind"}}},
      {"levee_replay_buffer_bytes", {kGauge, {}}},
      {"levee_memory_bytes", {kGauge, {}}},
      {"levee_memory_limit_bytes", {kGauge, {}}},
      {"levee_downstream_connections", {kGauge, {}}},
      {"levee_upstream_connections", {kGauge, {"upstream"}}},
      {"levee_endpoints", {kGauge, {"upstream", "state"}}},
      {"levee_limit_hits_total", {kCounter, {"limit"}}},
      {"levee_downstream_rejects_total", {kCounter, {"reason"}}},
      {"levee_config_reloads_total", {kCounter, {"result"}}},
      {"levee_tls_certificate_rotations_total", {kCounter, {}}},
      {"levee_config_last_reload_successful", {kGauge, {}}},
      {"levee_config_last_reload_success_timestamp_seconds", {kGauge, {}}},
      {"levee_otlp_spans_total", {kCounter, {"result"}}},
      {"levee_config_info", {kGauge, {"sha256"}}},
      {"levee_build_info", {kGauge, {"version", "commit"}}},
  };
}

const Rows& Contracts() {
  static const auto* const contracts = [] {
    auto* const rows = new Rows(CallRows());
    rows->merge(OtherRows());
    return rows;
  }();
  return *contracts;
}

class MetricsContractTest : public testing::Test {
 protected:
  MetricsContractTest()
      : metrics_({.settings = {.upstreams = {"cart"},
                               .certificates = {
                                   {"cart", "client", absl::UnixEpoch(), absl::UnixEpoch()}}}}) {
    metrics_.Upstream(0, "cart").tls.Count(tls::Result::kSuccess, tls::Version::k13,
                                           absl::Milliseconds(1));
    metrics_.RateLimit(0, "default", "per-tenant");
    metrics_.Guard(0, "cart");
    metrics_.Dedupe(0, "cart");
    metrics_.Shadow(0, "default", "candidate");
    metrics_.Store("shared");
    FakeGauges gauges;
    gauges.guards = {{"cart", {.limit = 20, .least = 1}}};
    gauges.leases = {{"per-tenant", LeaseState::kStale}};
    gauges.keys = {{"cart", {}}};
    gauges.budgets = {{.upstream = "cart"}};
    gauges.throttles = {{"cart", 0.0}};
    metrics_.Show(&gauges);
    families_ = metrics_.Scrape();
    metrics_.Show(nullptr);
  }

  const MetricFamily& Find(std::string_view name) const {
    for (const MetricFamily& family : families_) {
      if (family.name == name) return family;
    }
    ADD_FAILURE() << "no " << name;
    return families_.front();
  }

  // The values that a label takes in a family, in the order in which they are printed.
  std::vector<std::string> LabelValues(std::string_view name, std::string_view label) const {
    std::vector<std::string> values;
    for (const auto& metric : Find(name).metric) {
      for (const auto& pair : metric.label) {
        if (pair.name == label && (values.empty() || values.back() != pair.value)) {
          values.push_back(pair.value);
        }
      }
    }
    return values;
  }

  std::vector<double> Bounds(std::string_view name) const {
    std::vector<double> bounds;
    for (const auto& bucket : Find(name).metric.front().histogram.bucket) {
      bounds.push_back(bucket.upper_bound);
    }
    return bounds;
  }

  Metrics metrics_;
  std::vector<MetricFamily> families_;
};

TEST_F(MetricsContractTest, EveryFamilyIsThereOnceWithItsTypeAndLabels) {
  EXPECT_EQ(families_.size(), Contracts().size());
  for (const auto& [name, contract] : Contracts()) {
    const MetricFamily& family = Find(name);
    EXPECT_EQ(family.type, contract.type) << name;
    EXPECT_FALSE(family.help.empty()) << name;
    ASSERT_FALSE(family.metric.empty()) << name;
    for (const auto& metric : family.metric) {
      std::vector<std::string> labels;
      for (const auto& label : metric.label) labels.push_back(label.name);
      EXPECT_EQ(labels, contract.labels) << name;
    }
  }
}

TEST_F(MetricsContractTest, LabelsTakeTheValuesOfTheContract) {
  EXPECT_THAT(LabelValues("levee_call_attempts", "result"), ElementsAre("ok", "error"));
  EXPECT_THAT(LabelValues("levee_retries_total", "trigger"),
              ElementsAre("status", "http", "refused", "connect", "reset", "timeout", "hedge"));
  EXPECT_THAT(LabelValues("levee_retries_refused_total", "reason"),
              ElementsAre("budget", "max_attempts", "deadline", "committed", "buffer", "pushback",
                          "overload_mark", "not_idempotent", "max_elapsed", "advice", "draining",
                          "observe", "throttle"));
  EXPECT_THAT(LabelValues("levee_retries_waited_total", "result"),
              ElementsAre("released", "expired", "deadline", "cancelled"));
  EXPECT_THAT(LabelValues("levee_guard_arrivals_total", "attempt"),
              ElementsAre("0", "1", "2", "3+"));
  EXPECT_THAT(
      LabelValues("levee_dedupe_calls_total", "result"),
      ElementsAre("first", "replayed", "waited", "refused", "mismatch", "lost", "store_failed"));
  EXPECT_THAT(LabelValues("levee_shadow_decisions_total", "outcome"),
              ElementsAre("same", "more", "fewer"));
  EXPECT_THAT(LabelValues("levee_guard_calls_total", "decision"),
              ElementsAre("admitted", "queued", "refused"));
  EXPECT_THAT(LabelValues("levee_guard_calls_total", "reason"),
              ElementsAre("none", "concurrency", "queue"));
  EXPECT_THAT(LabelValues("levee_app_retries_total", "action"),
              ElementsAre("admitted", "refused", "admitted", "refused"));
  EXPECT_THAT(LabelValues("levee_app_retries_total", "seen_by"), ElementsAre("header", "loop"));
  EXPECT_THAT(LabelValues("levee_overload_marks_total", "direction"),
              ElementsAre("received", "sent", "received", "sent"));
  EXPECT_THAT(LabelValues("levee_overload_marks_total", "scope"),
              ElementsAre("service", "endpoint"));
  EXPECT_THAT(LabelValues("levee_throttle_decisions_total", "decision"),
              ElementsAre("admitted", "rejected", "observed"));
  EXPECT_THAT(LabelValues("levee_rate_limit_lease", "state"),
              ElementsAre("leased", "stale", "fallback"));
  EXPECT_THAT(LabelValues("levee_store_requests_total", "result"),
              ElementsAre("ok", "error", "timeout", "unavailable"));
  EXPECT_THAT(LabelValues("levee_otlp_spans_total", "result"),
              ElementsAre("exported", "dropped", "refused"));
  EXPECT_THAT(LabelValues("levee_rate_limit_decisions_total", "decision"),
              ElementsAre("admitted", "delayed", "rejected"));
  EXPECT_THAT(LabelValues("levee_endpoints", "state"),
              ElementsAre("ready", "connecting", "ejected", "failing", "idle"));
  EXPECT_THAT(LabelValues("levee_config_reloads_total", "result"),
              ElementsAre("success", "failure"));
  EXPECT_THAT(
      LabelValues("levee_limit_hits_total", "limit"),
      ElementsAre("memory", "replay_bytes", "streams_per_connection", "metadata_bytes",
                  "metadata_fields", "method_labels", "destinations", "pending_attempts",
                  "connections_per_endpoint", "routes_cached", "max_keys", "handshake",
                  "header_time", "header_blocks", "tls_messages", "access_log", "log",
                  "metric_series", "connections", "descriptors", "resets_per_second",
                  "idle_frames_per_second", "header_block_bytes", "pending_frames", "output_bytes",
                  "send_timeout", "idle_timeout", "waiting_calls", "handshakes", "failed_calls",
                  "method_kinds", "lone_calls", "dedupe_bytes", "otlp_spans"));
  EXPECT_THAT(LabelValues("levee_downstream_rejects_total", "reason"),
              ElementsAre("protocol_error", "not_http2", "not_grpc", "metadata", "loop", "no_route",
                          "denied", "not_captured", "bad_connect"));
}

TEST_F(MetricsContractTest, CodesAreTheNamesOfGrpc) {
  const std::vector<std::string> codes = {"OK",
                                          "CANCELLED",
                                          "UNKNOWN",
                                          "INVALID_ARGUMENT",
                                          "DEADLINE_EXCEEDED",
                                          "NOT_FOUND",
                                          "ALREADY_EXISTS",
                                          "PERMISSION_DENIED",
                                          "RESOURCE_EXHAUSTED",
                                          "FAILED_PRECONDITION",
                                          "ABORTED",
                                          "OUT_OF_RANGE",
                                          "UNIMPLEMENTED",
                                          "INTERNAL",
                                          "UNAVAILABLE",
                                          "DATA_LOSS",
                                          "UNAUTHENTICATED"};
  EXPECT_THAT(LabelValues("levee_attempts_total", "code"), ElementsAreArray(codes));
}

TEST_F(MetricsContractTest, HistogramsHaveTheBucketsOfTheContract) {
  const double infinity = std::numeric_limits<double>::infinity();
  const std::vector<double> durations = {.001, .0025, .005, .01, .025, .05,     .1,
                                         .25,  .5,    1,    2.5, 10,   infinity};
  EXPECT_EQ(Bounds("levee_call_duration_seconds"), durations);
  EXPECT_EQ(Bounds("levee_attempt_duration_seconds"), durations);
  EXPECT_THAT(Bounds("levee_call_attempts"), ElementsAre(1, 2, 3, 4, 5, 10, infinity));
  // Delays have the same and two more, since advice is followed up to a minute.
  std::vector<double> delays = durations;
  delays.insert(delays.end() - 1, {30, 60});
  EXPECT_EQ(Bounds("levee_retry_backoff_seconds"), delays);
  EXPECT_EQ(Bounds("levee_retry_wait_seconds"), delays);
  EXPECT_EQ(Bounds("levee_call_retry_delay_seconds"), delays);
}

}  // namespace
}  // namespace levee
