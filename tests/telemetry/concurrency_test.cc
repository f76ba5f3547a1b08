// SPDX-License-Identifier: Apache-2.0
// Workers write while others scrape and label methods; the thread sanitizer watches.
#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "gtest/gtest.h"
#include "telemetry/fake_gauges.h"
#include "telemetry/metrics.h"
#include "telemetry/scrape.h"

namespace levee {
namespace {

constexpr int kCalls = 5000;

CallRecord RetriedCall() {
  CallRecord record;
  record.end = Instant::FromNanos(2'000'000);
  record.code = StatusCode::kOk;
  record.attempts.push_back({.code = StatusCode::kUnavailable});
  record.attempts.push_back({.code = StatusCode::kOk,
                             .trigger = RetryTrigger::kStatus,
                             .after = StatusCode::kUnavailable});
  return record;
}

// One worker's life: looks series up now and then, and writes them all the time.
void Work(Metrics& metrics, int worker) {
  const CallRecord record = RetriedCall();
  WorkerSeries& own = metrics.Worker(worker);
  for (int i = 0; i < kCalls; ++i) {
    own.active_calls.Add();
    const std::string path = "/a.A/" + std::to_string(i % 7);
    MethodSeries& method = i % 100 == 0 ? metrics.LabelMethod(worker, "cart", path)
                                        : metrics.Method(worker, "cart", path);
    RecordCall(method, metrics.Upstream(worker, "cart"), own, record);
    own.active_calls.Sub();
  }
}

uint64_t CallsCounted(Metrics& metrics) {
  double calls = 0;
  for (const auto& family : metrics.Scrape()) {
    if (family.name != "levee_calls_total") continue;
    for (const auto& metric : family.metric) calls += metric.counter.value;
  }
  return static_cast<uint64_t>(calls);
}

TEST(MetricsConcurrency, NothingIsLostWhileAnotherThreadScrapes) {
  Metrics metrics({.workers = 2, .settings = {.upstreams = {"cart"}, .method_labels = 5}});
  std::atomic<bool> done = false;
  uint64_t last = 0;
  std::thread scraper([&] {
    while (!done.load()) {
      const uint64_t calls = CallsCounted(metrics);
      EXPECT_GE(calls, last);
      last = calls;
      FakeGauges gauges;
      gauges.replay_bytes = [calls] { return static_cast<int64_t>(calls); };
      metrics.Show(&gauges);
      metrics.Show(nullptr);
    }
  });
  std::thread first([&] { Work(metrics, 0); });
  std::thread second([&] { Work(metrics, 1); });
  first.join();
  second.join();
  done.store(true);
  scraper.join();

  EXPECT_EQ(CallsCounted(metrics), 2u * kCalls);
  EXPECT_EQ(Scraped(metrics, R"(levee_call_retry_delay_seconds_count{upstream="cart"})"),
            std::to_string(2 * kCalls));
  EXPECT_EQ(Scraped(metrics, R"(levee_active_calls{kind="unary"})"), "0");
}

}  // namespace
}  // namespace levee
