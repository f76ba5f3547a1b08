// SPDX-License-Identifier: Apache-2.0
// The order of events on virtual time.
#include "sim/sim_clock.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/random.h"
#include "gtest/gtest.h"

namespace levee {
namespace {

// When an event ran, and which one it was: they are numbered as they are asked for.
using Ran = std::vector<std::pair<int64_t, int>>;

TEST(SimClock, EventsRunByTimeAndThoseOfOneInstantAsTheyWereAskedFor) {
  SimClock clock;
  Random random(/*seed=*/1);
  Ran asked;
  Ran ran;
  int events = 0;
  // Few instants, so that many events have the same one.
  const auto ask = [&](const auto& again) -> void {
    const int event = events++;
    const auto delay = static_cast<int64_t>(random.Below(200));
    asked.emplace_back(clock.now().nanos() + delay, event);
    clock.After(absl::Nanoseconds(delay), [&, event] {
      ran.emplace_back(clock.now().nanos(), event);
      if (events < 5000) again(again);
      if (events < 5000 && random.Uniform() < 0.5) again(again);
    });
  };
  for (int i = 0; i < 100; ++i) ask(ask);
  clock.Run();
  std::sort(asked.begin(), asked.end());
  ASSERT_GE(ran.size(), 5000u);
  EXPECT_EQ(ran, asked);
}

TEST(SimClock, AnEventAtInfinityNeverRuns) {
  SimClock clock;
  clock.At(Instant::Infinite(), [] { FAIL(); });
  EXPECT_TRUE(clock.next().is_infinite());
  clock.Run();
}

}  // namespace
}  // namespace levee
