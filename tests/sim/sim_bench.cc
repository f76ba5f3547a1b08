// SPDX-License-Identifier: Apache-2.0
// How many attempts a second the simulator makes on one core; the bar is 500,000.
#include <benchmark/benchmark.h>

#include "policy/retry_policy.h"
#include "sim/services.h"
#include "sim/sim_clock.h"
#include "sim/sim_sidecar.h"
#include "sim/workload.h"

namespace levee {
namespace {

void RunCalls(benchmark::State& state, double failing) {
  constexpr int64_t kCalls = 20'000;
  int64_t attempts = 0;
  for (auto _ : state) {
    SimClock clock;
    SimSidecar sidecar(clock, CallPolicy());
    for (int i = 0; i < 3; ++i) sidecar.AddEndpoint(Flaky(failing, 1));
    RunWorkload(sidecar, {.per_second = 1000, .calls = kCalls, .poisson_seed = 1});
    attempts += sidecar.tally().attempts;
  }
  state.SetItemsProcessed(attempts);
}

BENCHMARK_CAPTURE(RunCalls, AllAnswered, 0.0);
BENCHMARK_CAPTURE(RunCalls, OneInTenFails, 0.1);
BENCHMARK_CAPTURE(RunCalls, Outage, 1.0);

}  // namespace
}  // namespace levee
