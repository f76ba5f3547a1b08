// SPDX-License-Identifier: Apache-2.0
#include "telemetry/upstream_totals.h"

#include <array>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "telemetry/metrics.h"

namespace levee {
namespace {

class UpstreamTotalsTest : public testing::Test {
 protected:
  UpstreamTotals Of(const std::string& upstream) const {
    for (const UpstreamTotals& totals : metrics_.Totals()) {
      if (totals.upstream == upstream) return totals;
    }
    ADD_FAILURE() << "no " << upstream;
    return {};
  }

  // A call that ended on `worker`.
  void Record(int worker, const std::string& upstream, const std::string& path,
              const CallRecord& record) {
    RecordCall(metrics_.LabelMethod(worker, upstream, path), metrics_.Upstream(worker, upstream),
               metrics_.Worker(worker), record);
  }

  Metrics metrics_{{.workers = 2, .settings = {.upstreams = {"stock", "cart"}}}};
};

CallRecord RetriedCall(StatusCode code) {
  CallRecord record;
  record.code = code;
  record.end = Instant::FromNanos(3'000'000);
  record.attempts.push_back({.code = StatusCode::kUnavailable});
  record.attempts.push_back({.code = StatusCode::kNotFound,
                             .trigger = RetryTrigger::kStatus,
                             .after = StatusCode::kUnavailable});
  return record;
}

TEST_F(UpstreamTotalsTest, EveryUpstreamIsThereByNameFromTheStart) {
  std::vector<std::string> names;
  for (const UpstreamTotals& totals : metrics_.Totals()) names.push_back(totals.upstream);
  EXPECT_EQ(names, (std::vector<std::string>{"cart", "none", "stock"}));
  EXPECT_EQ(Of("cart").calls, 0u);
}

TEST_F(UpstreamTotalsTest, MethodsAndWorkersAddUp) {
  Record(0, "cart", "/a.A/A", RetriedCall(StatusCode::kNotFound));
  Record(1, "cart", "/b.B/B", RetriedCall(StatusCode::kUnavailable));
  Record(1, "stock", "/b.B/B", RetriedCall(StatusCode::kOk));
  const UpstreamTotals cart = Of("cart");
  EXPECT_EQ(cart.calls, 2u);
  EXPECT_EQ(cart.calls_ok, 1u);  // That nothing was found is no fault of the server.
  EXPECT_EQ(cart.attempted, 2u);
  EXPECT_EQ(cart.attempts, 4u);
  EXPECT_EQ(cart.attempts_ok, 2u);
  EXPECT_EQ(cart.retries, 2u);
  EXPECT_EQ(cart.durations[2], 2u);
  EXPECT_EQ(Of("stock").calls, 1u);
}

TEST_F(UpstreamTotalsTest, WhatWasCancelledSpeaksForNobody) {
  Record(0, "cart", "/a.A/A", RetriedCall(StatusCode::kOk));
  CallRecord cancelled = RetriedCall(StatusCode::kCancelled);
  cancelled.attempts[1].code = StatusCode::kCancelled;
  Record(0, "cart", "/a.A/A", cancelled);
  const UpstreamTotals cart = Of("cart");
  EXPECT_EQ(cart.calls, 2u);
  EXPECT_EQ(cart.calls_cancelled, 1u);
  EXPECT_EQ(cart.calls_ok, 1u);
  EXPECT_EQ(cart.calls_judged(), 1u);
  EXPECT_EQ(cart.attempts, 4u);
  EXPECT_EQ(cart.attempts_cancelled, 1u);
  EXPECT_EQ(cart.attempts_ok, 1u);
  EXPECT_EQ(cart.attempts_judged(), 3u);
}

TEST_F(UpstreamTotalsTest, RefusalsLimitsAndMarksAreCounted) {
  CallRecord record = RetriedCall(StatusCode::kUnavailable);
  record.attempts[0].mark_received = OverloadScope::kEndpoint;
  record.attempts[1].mark_received = OverloadScope::kService;
  record.mark_sent = OverloadScope::kEndpoint;
  record.refused = RefusalReason::kOverloadMark;
  record.app_retry = AppRetrySign::kHeader;
  Record(0, "cart", "/a.A/A", record);
  CallRecord limited;
  limited.code = StatusCode::kResourceExhausted;
  limited.rate_limit = {.checked = true, .refused_by = 0};
  Record(1, "cart", "/a.A/A", limited);
  CallRecord app_retry;
  app_retry.app_retry = AppRetrySign::kLoop;
  app_retry.app_retry_refused = true;
  Record(1, "cart", "/a.A/A", app_retry);

  const UpstreamTotals cart = Of("cart");
  EXPECT_EQ(cart.calls, 3u);
  EXPECT_EQ(cart.attempted, 1u);
  EXPECT_EQ(cart.marks_received, 2u);
  EXPECT_EQ(cart.marks_sent, 1u);
  EXPECT_EQ(cart.rate_limited, 1u);
  EXPECT_EQ(cart.app_retries_admitted, 1u);
  EXPECT_EQ(cart.app_retries_refused, 1u);
  EXPECT_EQ(cart.refused[static_cast<size_t>(RefusalReason::kOverloadMark)], 1u);
  EXPECT_EQ(cart.refused[static_cast<size_t>(RefusalReason::kBudget)], 0u);
}

TEST_F(UpstreamTotalsTest, DecisionsOfAGuardAddUpOverPrioritiesAndWorkers) {
  const auto record = [this](int worker, const GuardRecord& guard, int previous = 0) {
    RecordArrival(metrics_.Guard(worker, "cart"), previous);
    RecordGuard(metrics_.Guard(worker, "cart"), guard);
  };
  record(0, {.decision = GuardDecision::kAdmitted, .priority = 3});
  record(1, {.decision = GuardDecision::kAdmitted, .priority = 100}, /*previous=*/9);
  record(1, {.decision = GuardDecision::kQueued});
  for (const int priority : {0, 64, 127}) {
    record(
        0,
        {.decision = GuardDecision::kRefused, .reason = GuardReason::kQueue, .priority = priority},
        /*previous=*/1);
  }
  const UpstreamTotals cart = Of("cart");
  EXPECT_EQ(cart.guard_admitted, 2u);
  EXPECT_EQ(cart.guard_queued, 1u);
  EXPECT_EQ(cart.guard_refused[static_cast<size_t>(GuardReason::kQueue)], 3u);
  EXPECT_EQ(cart.guard_refused[static_cast<size_t>(GuardReason::kConcurrency)], 0u);
  EXPECT_EQ(cart.guard_arrivals, (std::array<uint64_t, kArrivalClasses>{2, 3, 0, 1}));
  EXPECT_EQ(Of("stock").guard_admitted, 0u);
}

}  // namespace
}  // namespace levee
