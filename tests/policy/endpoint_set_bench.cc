// SPDX-License-Identifier: Apache-2.0
// The cost per call of the choice among endpoints.
#include <benchmark/benchmark.h>

#include "policy/endpoint_set.h"

namespace levee {
namespace {

// One call from the choice to its end.
void BM_EndpointSetCall(benchmark::State& state) {
  EndpointSet set;
  Random random(1);
  Instant now;
  for (int64_t i = 0; i < state.range(0); ++i) set.Update(set.Add(), {true, true, false, 0}, now);
  for (auto _ : state) {
    now = now + absl::Microseconds(3);
    const int64_t id = *set.Choose({}, {}, {.repeatable = true}, now, random);
    set.Update(id, {true, true, false, 1}, now);
    set.RecordLatency(id, absl::Milliseconds(1), now);
    set.RecordEnd(id, true, now);
    set.Update(id, {true, true, false, 0}, now);
  }
}
BENCHMARK(BM_EndpointSetCall)->Arg(1)->Arg(3)->Arg(1000);

}  // namespace
}  // namespace levee
