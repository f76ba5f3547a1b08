// SPDX-License-Identifier: Apache-2.0
// Random calls through the real binary over real sockets, under policies that are drawn from every
// field of the schema, reloads included. At the end every call has ended exactly once, and the
// sidecar has counted as its callers have.
//
// usage: random_ledger [--seed S] [--worlds N | --seconds T] [--calls C]
#include <gtest/gtest.h>

#include <chrono>
#include <cstdio>
#include <map>
#include <string>

#include "ledger/loop.h"
#include "ledger/number_options.h"
#include "random_ledger/world.h"

namespace levee::ledger {
namespace {

constexpr int kPoliciesPerWorld = 6;

struct Options {
  uint64_t seed = 1;  // of the first world; those that follow have the next ones
  uint64_t worlds = 1;
  uint64_t seconds = 0;  // instead of `worlds`: no other begins after this time
  uint64_t calls = 600;  // under each configuration
};

bool Run(const Options& options) {
  const auto started = Clock::now();
  const auto goes_on = [&](uint64_t done) {
    if (options.seconds == 0) return done < options.worlds;
    return Clock::now() - started < std::chrono::seconds(options.seconds);
  };
  uint64_t calls = 0;
  uint64_t worlds = 0;
  std::map<std::string, uint64_t> counts;
  const auto right = [] { return !testing::UnitTest::GetInstance()->Failed(); };
  for (; right() && goes_on(worlds); ++worlds) {
    const uint64_t seed = options.seed + worlds;
    std::printf("seed %llu, after %llu calls\n", static_cast<unsigned long long>(seed),
                static_cast<unsigned long long>(calls));
    std::fflush(stdout);  // Before a fault that ends this process as well.
    World world(seed);
    world.Run(kPoliciesPerWorld, options.calls);
    calls += world.calls();
    for (const auto& [what, count] : world.counts()) counts[what] += count;
  }
  for (const auto& [what, count] : counts) {
    std::printf("  %-52s %10llu\n", what.c_str(), static_cast<unsigned long long>(count));
  }
  std::printf("%s: %llu random calls in %llu worlds, %.1f s\n", right() ? "right" : "WRONG",
              static_cast<unsigned long long>(calls), static_cast<unsigned long long>(worlds),
              std::chrono::duration<double>(Clock::now() - started).count());
  return right();
}

}  // namespace
}  // namespace levee::ledger

int main(int argc, char** argv) {
  levee::ledger::Options options;
  if (!levee::ledger::TakeNumbers(
          argc, argv,
          {{"--seed", &options.seed},
           {"--worlds", &options.worlds},
           {"--seconds", &options.seconds},
           {"--calls", &options.calls}},
          "random_ledger [--seed S] [--worlds N | --seconds T] [--calls C]")) {
    return 2;
  }
  return levee::ledger::Run(options) ? 0 : 1;
}
