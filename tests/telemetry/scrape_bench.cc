// SPDX-License-Identifier: Apache-2.0
// The cost of a scrape of a large sidecar, for the thread that serves it.
#include <algorithm>
#include <cstdint>
#include <string>

#include "benchmark/benchmark.h"
#include "telemetry/metrics.h"
#include "telemetry/scrape.h"

namespace levee {
namespace {

// Two workers that have written every cell a little; at least `series` time series.
void Fill(Metrics& metrics, int64_t series) {
  CallRecord record;
  record.end = Instant::FromNanos(3'210'000);
  record.code = StatusCode::kOk;
  record.attempts.push_back({.end = record.end, .code = StatusCode::kUnavailable});
  record.attempts.push_back({.end = record.end,
                             .code = StatusCode::kOk,
                             .trigger = RetryTrigger::kStatus,
                             .after = StatusCode::kUnavailable});
  for (int i = 0; i < series / 80; ++i) {
    const std::string path = "/shop.warehouse.v1.Inventory/Reserve" + std::to_string(i);
    for (int worker = 0; worker < 2; ++worker) {
      RecordCall(metrics.LabelMethod(worker, "inventory", path),
                 metrics.Upstream(worker, "inventory"), metrics.Worker(worker), record);
    }
  }
}

void BM_Scrape(benchmark::State& state) {
  Metrics metrics({.workers = 2,
                   .settings = {.upstreams = {"inventory"},
                                .method_labels = 100'000,
                                .metric_series = 1'000'000,
                                .otel_names = state.range(1) != 0}});
  Fill(metrics, state.range(0));
  int64_t series = 0, bytes = 0;
  for ([[maybe_unused]] auto _ : state) {
    const std::string text = ScrapeText(metrics);
    series = std::count(text.begin(), text.end(), '\n');
    bytes = static_cast<int64_t>(text.size());
  }
  state.counters["lines"] = static_cast<double>(series);
  state.counters["bytes"] = static_cast<double>(bytes);
}
BENCHMARK(BM_Scrape)
    ->Args({1'000, 0})
    ->Args({10'000, 0})
    ->Args({10'000, 1})
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace levee
