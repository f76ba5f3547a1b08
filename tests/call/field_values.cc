// SPDX-License-Identifier: Apache-2.0
#include "call/field_values.h"

#include <map>
#include <string>

namespace levee {
namespace {

// Times are short enough for a run to meet their ends, and rates low and high enough to be reached
// or never.
using Rows = std::map<std::string_view, FieldValues>;

Rows BackoffRows() {
  return {
      {"Backoff.initial", {{"1ms", "25ms", "100ms"}}},
      {"Backoff.multiplier", {{"1", "2", "4"}}},
      {"Backoff.max", {{"100ms", "1s", "2s"}}},
      {"Backoff.max_advice", {{"none", "0s", "10ms", "60s"}}},
      {"Backoff.preset", {{"grpc", "google-http", "aws-2026", "ethernet", "istio"}, 0.1}},
      {"Backoff.constant", {{"1ms", "50ms", "1s"}, 0.2}},
      {"Backoff.schedule", {{"1ms", "10ms", "200ms", "1s"}, 0.2}},
      {"Backoff.slot", {{"51.2us", "1ms", "20ms"}, 0.2}},
      {"Backoff.truncate", {{"1", "5", "10"}}},
      {"Backoff.max_elapsed", {{"none", "1ms", "100ms", "5s"}}},
      {"Jitter.kind", {{"none", "full", "equal", "decorrelated"}}},
      {"Jitter.factor", {{"0.2", "1"}}},
      {"Jitter.add", {{"1ms", "50ms", "1s"}}},
  };
}

Rows RetryRows() {
  return {
      {"Policy.name", {{"drawn"}}},
      {"Policy.hedge", {{}, 0.6}},
      {"Policy.timeout", {{"none", "20ms", "500ms", "3s"}, 0.4}},
      {"Stream.timeout", {{"none", "50ms", "500ms"}, 0.4}},
      {"Stream.idle", {{"none", "30ms", "200ms"}, 0.4}},
      {"Retry.budget", {{}, 0.8}},
      {"Retry.exhausted", {{"auto", "replace", "mark", "keep", "keep"}, 0.7}},
      {"Retry.max_attempts", {{"1", "2", "3", "6"}, 0.7}},
      {"Retry.codes", {{"UNAVAILABLE", "INTERNAL", "NOT_FOUND", "UNKNOWN", "ABORTED"}}},
      {"Retry.http", {{"404", "429", "503", "5xx"}}},
      {"Retry.attempt_timeout", {{"none", "2ms", "30ms", "200ms"}, 0.4}},
      {"Retry.buffer", {{"0B", "8B", "64KiB"}, 0.3}},
      {"Retry.hold", {{"0s", "1ms", "20ms", "10s"}}},
      {"Budget.ratio", {{"0", "0.1", "1", "10", "50"}, 0.8}},
      {"Budget.window", {{"100ms", "500ms", "10s", "60s"}, 0.3}},
      {"Budget.wait", {{"none", "20ms", "100ms", "200ms", "2s", "60s"}, 0.8}},
      {"Budget.Floor.per_second", {{"0", "0.5", "1", "5", "1000"}}},
      {"Budget.Floor.min_success", {{"0", "0.5", "0.8", "1"}}},
      {"Budget.burst", {{}, 0.8}},
      {"Budget.Burst.least", {{"0", "1", "10", "1000", "1000"}, 0.8}},
      {"Budget.Burst.span", {{"100ms", "1s", "1h"}}},
      {"RetryRule.codes", {{"UNAVAILABLE", "INTERNAL", "RESOURCE_EXHAUSTED", "DATA_LOSS"}}},
      {"RetryRule.http", {{"404", "503", "5xx"}}},
      {"RetryRule.max_attempts", {{"1", "2", "4"}}},
      {"Hedge.delay", {{"0s", "1ms", "10ms", "50ms", "200ms", "p50", "p90", "p99.9"}}},
      {"Hedge.max_attempts", {{"2", "3", "4", "5"}, 0.9}},
      {"Hedge.non_fatal", {{"UNAVAILABLE", "INTERNAL", "NOT_FOUND", "UNKNOWN", "CANCELLED"}}},
      {"Idempotency.Key.header", {{"idempotency-key"}}},
  };
}

Rows AdmissionRows() {
  return {
      {"RateLimit.name", {{"limit"}}},
      {"RateLimit.rate", {{"1/s", "10/s", "1000/s", "30/m"}}},
      {"RateLimit.burst", {{"1", "5", "100"}}},
      {"RateLimit.key", {{"method", "authority", "header:user", "header:shop"}}},
      {"RateLimit.max_wait", {{"none", "1ms", "100ms", "5s"}}},
      {"RateLimit.max_keys", {{"1", "2", "100"}}},
      {"RateLimit.store", {{"shared"}}},
      {"RateLimit.grace", {{"0s", "10ms", "60s"}}},
      {"RateLimit.Rls.address", {{"127.0.0.1:8081"}}},
      {"RateLimit.Rls.domain", {{"shop"}}},
      {"RateLimit.Rls.timeout", {{"1ms", "20ms", "1s"}}},
      {"RateLimit.Rls.lease", {{"10ms", "100ms", "1s"}}},
      {"Throttle.k", {{"1", "1.5", "2", "10"}}},
      {"Throttle.window", {{"100ms", "3s"}}},
      {"Throttle.min_calls", {{"1", "5", "20"}}},
      {"Overload.status", {{"RESOURCE_EXHAUSTED", "UNAVAILABLE"}}},
  };
}

Rows GuardRows() {
  return {
      {"Guard.Concurrency.limit", {{"none", "adaptive", "1", "2", "10", "100"}, 0.8}},
      {"Guard.Concurrency.initial", {{"2", "20"}}},
      {"Guard.Concurrency.min", {{"1", "2"}}},
      {"Guard.Concurrency.max", {{"20", "50"}}},
      {"Guard.Queue.max", {{"auto", "0", "1", "5", "1000"}}},
      {"Guard.Queue.target", {{"1ms", "5ms", "1s"}}},
      {"Guard.Queue.interval", {{"10ms", "100ms", "1s"}}},
      {"Guard.Priority.header", {{"levee-priority"}}},
      {"Guard.Priority.default", {{"0", "64", "127"}}},
      {"Guard.Scope.retries", {{"0", "0.1", "1"}}},
      {"Guard.Scope.min_calls", {{"1", "20"}}},
      {"Guard.Dedupe.header", {{"idempotency-key"}}},
      // A store that sidecars share is asked over the network; the tests of dedupe/ have one.
      {"Guard.Dedupe.store", {{"memory"}}},
      {"Guard.Dedupe.ttl", {{"1s", "10s", "24h"}}},
      {"Guard.Dedupe.scope", {{"method", "header:user"}}},
      {"Guard.Dedupe.max_response", {{"1KiB", "64KiB"}}},
      {"Guard.Dedupe.max_bytes", {{"64KiB", "1MiB"}}},
      {"Guard.Dedupe.claim", {{"1s", "60s"}}},
  };
}

Rows AllRows() {
  Rows rows = BackoffRows();
  rows.merge(RetryRows());
  rows.merge(AdmissionRows());
  rows.merge(GuardRows());
  return rows;
}

}  // namespace

const FieldValues* FindFieldValues(const google::protobuf::FieldDescriptor& field) {
  static const Rows* const rows = new Rows(AllRows());
  constexpr std::string_view kPackage = "levee.config.v1.";
  const auto found = rows->find(std::string_view(field.full_name()).substr(kPackage.size()));
  return found == rows->end() ? nullptr : &found->second;
}

}  // namespace levee
