// SPDX-License-Identifier: Apache-2.0
// All packets are lost for a while: cell E5d.
#include <algorithm>
#include <iostream>
#include <map>
#include <ostream>
#include <utility>
#include <vector>

#include "call/call_fixture.h"
#include "call/weather.h"
#include "storms/seeds.h"

namespace levee {
namespace {

constexpr double kFrom = 20;

struct Blackout {
  int dark;  // instances whose packets are lost
  int endpoints;
  double lasts;     // seconds
  double deadline;  // seconds
};

void PrintTo(const Blackout& b, std::ostream* out) {
  *out << b.dark << " of " << b.endpoints << " for " << b.lasts << " s, deadline " << b.deadline
       << " s";
}

// When the kernels hear of each other again: they send what is lost after 0.2, 0.6, 1.4, 3 ... s.
double Back(const Blackout& b) {
  double sent = 0.2;
  for (double wait = 0.4; sent < b.lasts; wait *= 2) sent += wait;
  return kFrom + sent;
}

// One call in ten takes 1.5 s, so that some are out when the packets begin to be lost. Whatever was
// sent meanwhile, in either direction, comes when it is sent again. Notes in `in_time` for each
// call whether its first attempt is answered before the deadline.
Weather Without(const Blackout& b, std::map<int64_t, bool>& in_time) {
  const absl::Duration back = Sec(Back(b));
  return {.per_second = 60,
          .length = Sec(45),
          .deadline = Sec(b.deadline),
          .endpoints = b.endpoints,
          .dark_from = Sec(kFrom),
          .dark_until = back,
          .dark = b.dark,
          .fate = [b, back, &in_time](const Reached& reached, Random&) {
            const absl::Duration took = reached.call % 10 == 0 ? Sec(1.5) : Ms(10);
            absl::Duration end = reached.at + took;
            if (reached.endpoint < b.dark && reached.at < back && end >= Sec(kFrom)) {
              end = reached.at < Sec(kFrom) ? std::max(back, end) : back + took;
            }
            in_time.emplace(reached.call, end - reached.at < Sec(b.deadline));
            return After(end - reached.at);
          }};
}

class WeatherPackets : public testing::TestWithParam<Blackout> {};

TEST_P(WeatherPackets, E5d_NoCallEndsThatDoesNotEndDirectly) {
  const Blackout& p = GetParam();
  std::vector<int64_t> direct(25), levee(25);
  int64_t ended = 0;  // that would have been answered where they were
  int64_t late = 0;   // lost, and begun when the silence was known
  for (int seed = 1; seed <= static_cast<int>(StormSeeds(5)); ++seed) {
    std::map<int64_t, bool> directly, in_time;
    const SeenWeather plain = RunWeather(Without(p, directly), Way::kDirect, seed);
    const SeenWeather seen = RunWeather(Without(p, in_time), Way::kLevee, seed);
    for (const auto& [call, answered] : in_time) {
      if (answered && !seen.calls[static_cast<size_t>(call)].ok()) ++ended;
    }
    late += seen.Lost(Sec(kFrom + 1.5), Sec(45));
    for (int s = 0; s < 25; ++s) {
      direct[s] += plain.Lost(Sec(kFrom + s), Sec(kFrom + s + 1));
      levee[s] += seen.Lost(Sec(kFrom + s), Sec(kFrom + s + 1));
    }
  }
  std::cout << "E5d " << testing::PrintToString(p) << ": ended early " << ended << ", lost";
  for (int s = 0; s < 14; ++s) std::cout << " " << direct[s] << "/" << levee[s];
  std::cout << "\n";
  EXPECT_EQ(ended, 0);
  if (p.dark < p.endpoints) {
    EXPECT_EQ(late, 0);
  }
  for (int s = 0; s < 25; ++s) EXPECT_LE(levee[s], direct[s]) << "second " << s;
}

std::vector<Blackout> Blackouts() {
  std::vector<Blackout> all;
  for (const auto& [dark, of] : std::vector<std::pair<int, int>>{{1, 1}, {1, 2}, {1, 3}, {3, 3}}) {
    for (const double lasts : {1.2, 3.0, 10.0}) {
      for (const double deadline : {2.0, 5.0, 20.0}) all.push_back({dark, of, lasts, deadline});
    }
  }
  return all;
}

INSTANTIATE_TEST_SUITE_P(, WeatherPackets, testing::ValuesIn(Blackouts()));

}  // namespace
}  // namespace levee
