// SPDX-License-Identifier: Apache-2.0
// The cost of a decision of a rate limit.
#include <vector>

#include "absl/strings/str_format.h"
#include "benchmark/benchmark.h"
#include "policy/rate_limiter.h"

namespace levee {
namespace {

constexpr int kKeys = 10'000;

RateLimitPolicy Keyed(double rate, int burst) {
  RateLimitPolicy policy{.per_second = rate, .burst = burst};
  policy.key = {RateLimitKey::Method(), RateLimitKey::Header("x-tenant")};
  policy.max_keys = kKeys;
  return policy;
}

const std::vector<LimitKey>& Keys() {
  static const auto* const keys = [] {
    auto* made = new std::vector<LimitKey>;
    for (int i = 0; i < kKeys; ++i) {
      LimitKey& key = made->emplace_back();
      key.Add("method", "/shop.Cart/AddItem");
      key.Add("header:x-tenant", absl::StrFormat("x-tenant-%05d", i));
    }
    return made;
  }();
  return *keys;
}

// Decisions at 10 million a second of virtual time, one limit for all threads.
void Decide(benchmark::State& state, RateLimiter& limit, const std::vector<LimitKey>& keys) {
  const size_t start = static_cast<size_t>(state.thread_index()) * 5003;
  size_t key = start % keys.size();
  int64_t nanos = 1'000'000'000;
  for ([[maybe_unused]] auto _ : state) {
    nanos += 100;
    benchmark::DoNotOptimize(
        limit.Take(keys[key], Instant::FromNanos(nanos), absl::ZeroDuration()));
    key = (key + 7919) % keys.size();
  }
  state.SetItemsProcessed(state.iterations());
}

void UnkeyedGranted(benchmark::State& state) {
  static auto* const limit = new RateLimiter({.per_second = 1e9, .burst = 1'000'000'000});
  Decide(state, *limit, {LimitKey()});
}
BENCHMARK(UnkeyedGranted)->ThreadRange(1, 2)->UseRealTime();

void UnkeyedMostlyRefused(benchmark::State& state) {
  static auto* const limit = new RateLimiter({.per_second = 100, .burst = 20});
  Decide(state, *limit, {LimitKey()});
}
BENCHMARK(UnkeyedMostlyRefused)->ThreadRange(1, 2)->UseRealTime();

void KeyedGranted(benchmark::State& state) {
  static auto* const limit = new RateLimiter(Keyed(1e6, 1'000'000));
  Decide(state, *limit, Keys());
}
BENCHMARK(KeyedGranted)->ThreadRange(1, 2)->UseRealTime();

void KeyedMostlyRefused(benchmark::State& state) {
  static auto* const limit = new RateLimiter(Keyed(100, 20));
  Decide(state, *limit, Keys());
}
BENCHMARK(KeyedMostlyRefused)->ThreadRange(1, 2)->UseRealTime();

// A caller who makes up keys, against a table that is full of busy ones.
void KeyedMadeUp(benchmark::State& state) {
  static auto* const limit = [] {
    auto* made = new RateLimiter(Keyed(1e-6, 20));
    for (const LimitKey& key : Keys()) made->Take(key, Instant(), absl::ZeroDuration());
    return made;
  }();
  static const auto* const keys = [] {
    auto* made = new std::vector<LimitKey>;
    for (int i = 0; i < 100 * kKeys; ++i) {
      made->emplace_back().Add("method", absl::StrFormat("made up %d", i));
    }
    return made;
  }();
  Decide(state, *limit, *keys);
}
BENCHMARK(KeyedMadeUp)->ThreadRange(1, 2)->UseRealTime();

void AdaptiveGranted(benchmark::State& state) {
  static auto* const limit =
      new RateLimiter({.per_second = 1e9, .burst = 1'000'000'000, .adaptive = true});
  Decide(state, *limit, {LimitKey()});
}
BENCHMARK(AdaptiveGranted)->ThreadRange(1, 2)->UseRealTime();

}  // namespace
}  // namespace levee
