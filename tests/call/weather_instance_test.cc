// SPDX-License-Identifier: Apache-2.0
// Which instance a call goes to on an ordinary day: cells E18, E5, E5b, E5c and E6.
#include <algorithm>
#include <iostream>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "call/call_fixture.h"
#include "call/weather.h"
#include "sim/loaded_service.h"
#include "storms/seeds.h"

namespace levee {
namespace {

int InstanceSeeds() { return static_cast<int>(StormSeeds(5)); }

Answer Refuse() { return TrailersOnly(StatusCode::kUnavailable); }

// A latency around `mean`, from half of it to one and a half.
absl::Duration Around(absl::Duration mean, Random& random) {
  return mean * (0.5 + random.Uniform());
}

struct Rollout {
  int bad;
  int all;
  double per_second;
  double from;  // seconds; the bad ones are bad from then on, for a minute
};

void PrintTo(const Rollout& r, std::ostream* out) {
  *out << r.bad << " of " << r.all << ", " << r.per_second << "/s from " << r.from << " s";
}

class WeatherRollout : public testing::TestWithParam<Rollout> {};

TEST_P(WeatherRollout, E18_CallsGoToTheInstancesThatAnswer) {
  const Rollout& p = GetParam();
  const double until = p.from + 60;
  const Weather weather = {.per_second = p.per_second,
                           .length = Sec(until + 75),
                           .endpoints = p.all,
                           .fate = [&](const Reached& reached, Random& random) {
                             const bool failing = reached.endpoint < p.bad &&
                                                  reached.at >= Sec(p.from) &&
                                                  reached.at < Sec(until);
                             return failing ? Refuse() : After(Around(Ms(5), random));
                           }};
  double direct = 0, grpc = 0, first = 0, later = 0, share = 0, after = 0;
  const double learnt = p.per_second < 2 ? 12 : 2;
  const int seeds = p.per_second > 500 ? std::max(InstanceSeeds() / 10, 1) : InstanceSeeds();
  double worst = 1;
  for (int seed = 1; seed <= seeds; ++seed) {
    const SeenWeather levee = RunWeather(weather, Way::kLevee, seed);
    direct += RunWeather(weather, Way::kDirect, seed).Success(Sec(p.from), Sec(until));
    grpc += RunWeather(weather, Way::kGrpc, seed).Success(Sec(p.from), Sec(until));
    first += levee.Success(Sec(p.from), Sec(p.from + learnt));
    later += levee.Success(Sec(p.from + learnt), Sec(until));
    after += levee.Success(Sec(until), Sec(until + 75));
    const std::vector<double> back =
        levee.Shares(Sec(until + (p.per_second < 2 ? 60 : 15)), Sec(until + 75));
    for (int i = 0; i < p.bad; ++i) share += back[i] * p.all / p.bad;
    for (int s = 0; s < 60; ++s)
      worst = std::min(worst, levee.Success(Sec(p.from + s), Sec(p.from + s + 1)));
  }
  std::cout << "E18 " << testing::PrintToString(p) << ": direct " << direct / seeds << ", gRPC "
            << grpc / seeds << ", Levee first " << first / seeds << ", then " << later / seeds
            << ", after " << after / seeds << ", bad ones' part of an even share " << share / seeds
            << ", worst second " << worst << "\n";
  EXPECT_GE(first / seeds, static_cast<double>(p.all - p.bad) / p.all);
  EXPECT_GE(later / seeds, 0.97);
  EXPECT_GE(share / seeds, 0.8);
}

std::vector<Rollout> Rollouts() {
  std::vector<Rollout> all;
  for (const double per_second : {1.0, 30.0, 1000.0}) {
    for (const double from : {0.0, 30.0}) {
      for (const auto& [bad, of] :
           std::vector<std::pair<int, int>>{{1, 3}, {2, 3}, {3, 4}, {3, 5}, {9, 10}}) {
        all.push_back({bad, of, per_second, from});
      }
    }
  }
  return all;
}

INSTANTIATE_TEST_SUITE_P(, WeatherRollout, testing::ValuesIn(Rollouts()));

// Instances of 4 slots of 10 ms each, of which some are bad for a minute.
struct Crowd {
  int bad;
  int all;
  double load;  // of the capacity of all
};

void PrintTo(const Crowd& c, std::ostream* out) {
  *out << c.bad << " of " << c.all << " at " << c.load << " of the capacity";
}

class WeatherCrowd : public testing::TestWithParam<Crowd> {};

TEST_P(WeatherCrowd, E18_WhereTheGoodOnesHaveNoRoomItIsAsAnEvenSpread) {
  const Crowd& p = GetParam();
  const Weather weather = {
      .per_second = 400 * p.load * p.all,
      .length = Sec(100),
      .endpoints = p.all,
      .service = [p](SimClock& clock, int endpoint, uint64_t seed) -> Service {
        auto loaded = std::make_shared<LoadedService>(clock, WorkKind::kExponential, 4, seed);
        return [&clock, loaded, good = loaded->Method(Ms(10)), bad = endpoint < p.bad](
                   SimHost& host, AttemptId id) -> Answer {
          const absl::Duration at = clock.elapsed();
          if (bad && at >= Sec(20) && at < Sec(80)) return Refuse();
          return good(host, id);
        };
      }};
  double direct = 0, levee = 0, worst = 1, calm_direct = 0, calm = 0;
  const int seeds = std::max(InstanceSeeds() / 4, 1);
  for (int seed = 1; seed <= seeds; ++seed) {
    const SeenWeather seen = RunWeather(weather, Way::kLevee, seed);
    const SeenWeather plain = RunWeather(weather, Way::kDirect, seed);
    levee += seen.Success(Sec(20), Sec(80));
    direct += plain.Success(Sec(20), Sec(80));
    calm += seen.Success(Sec(0), Sec(20));
    calm_direct += plain.Success(Sec(0), Sec(20));
    for (int s = 20; s < 80; ++s) worst = std::min(worst, seen.Success(Sec(s), Sec(s + 1)));
  }
  std::cout << "E18 " << testing::PrintToString(p) << ": direct " << direct / seeds << ", Levee "
            << levee / seeds << ", worst second " << worst << "; calm " << calm_direct / seeds
            << " " << calm / seeds << "\n";
  EXPECT_GE(levee, direct - 0.001 * seeds);
}

INSTANTIATE_TEST_SUITE_P(, WeatherCrowd,
                         testing::Values(Crowd{1, 3, 0.3}, Crowd{1, 3, 0.6}, Crowd{1, 3, 0.8},
                                         Crowd{2, 3, 0.3}, Crowd{2, 3, 0.5}, Crowd{2, 3, 0.8},
                                         Crowd{9, 10, 0.3}, Crowd{9, 10, 0.7}));

struct Death {
  int endpoints;
  double per_second;
  double deadline;
  double lasts;  // seconds; all that came meanwhile is answered then
};

void PrintTo(const Death& d, std::ostream* out) {
  *out << "1 of " << d.endpoints << ", " << d.per_second << "/s, deadline " << d.deadline
       << " s, for " << d.lasts << " s";
}

Weather Silent(const Death& d) {
  return {.per_second = d.per_second,
          .length = Sec(60),
          .deadline = Sec(d.deadline),
          .endpoints = d.endpoints,
          .dark_from = d.lasts >= 60 ? Sec(20) : absl::InfiniteDuration(),
          .fate = [d](const Reached& reached, Random& random) {
            const absl::Duration took = Around(Ms(10), random);
            const absl::Duration end = Sec(20 + d.lasts);
            if (reached.endpoint != 0 || reached.at < Sec(20) || reached.at >= end)
              return After(took);
            return d.lasts >= 60 ? Silence() : After(end - reached.at + took);
          }};
}

class WeatherDeath : public testing::TestWithParam<Death> {};

TEST_P(WeatherDeath, E5_NoCallGoesToAnInstanceThatHasLostItsPower) {
  const Death& p = GetParam();
  const Weather weather = Silent(p);
  int64_t direct = 0, levee = 0, late = 0;
  for (int seed = 1; seed <= InstanceSeeds(); ++seed) {
    const SeenWeather seen = RunWeather(weather, Way::kLevee, seed);
    direct += RunWeather(weather, Way::kDirect, seed).Lost(Sec(20), Sec(60));
    levee += seen.Lost(Sec(20), Sec(60));
    late += seen.Lost(Sec(21.5), Sec(60));
  }
  std::cout << "E5 " << testing::PrintToString(p) << ": lost directly " << direct << ", Levee "
            << levee << ", of them begun after 1.5 s " << late << " of " << InstanceSeeds()
            << " seeds\n";
  EXPECT_EQ(late, 0);
}

INSTANTIATE_TEST_SUITE_P(, WeatherDeath,
                         testing::Values(Death{2, 60, 2, 1000}, Death{2, 60, 5, 1000},
                                         Death{2, 60, 10, 1000}, Death{3, 100, 2, 1000},
                                         Death{3, 100, 5, 1000}, Death{3, 100, 10, 1000}));

class WeatherStandstill : public testing::TestWithParam<Death> {};

TEST_P(WeatherStandstill, E5b_AnInstanceThatStandsStillCostsNoMoreThanDirectly) {
  const Death& p = GetParam();
  const Weather weather = Silent(p);
  std::vector<int64_t> direct(40), levee(40);
  for (int seed = 1; seed <= InstanceSeeds(); ++seed) {
    const SeenWeather seen = RunWeather(weather, Way::kLevee, seed);
    const SeenWeather plain = RunWeather(weather, Way::kDirect, seed);
    for (int s = 0; s < 40; ++s) {
      levee[s] += seen.Lost(Sec(20 + s), Sec(21 + s));
      direct[s] += plain.Lost(Sec(20 + s), Sec(21 + s));
    }
  }
  std::cout << "E5b " << testing::PrintToString(p) << ": lost";
  for (int s = 0; s < 12; ++s) std::cout << " " << direct[s] << "/" << levee[s];
  std::cout << "\n";
  for (int s = 0; s < 40; ++s) EXPECT_LE(levee[s], direct[s]) << "second " << s;
}

INSTANTIATE_TEST_SUITE_P(, WeatherStandstill,
                         testing::Values(Death{2, 60, 2, 0.3}, Death{2, 60, 2, 1},
                                         Death{2, 60, 2, 3}, Death{2, 60, 2, 10},
                                         Death{3, 100, 2, 3}, Death{3, 100, 2, 10},
                                         Death{3, 100, 0.5, 3}));

// The share of each of two endpoints of what comes after five seconds.
void ExpectEven(const std::string& what, const Weather& weather) {
  double most = 0;
  for (int seed = 1; seed <= InstanceSeeds(); ++seed) {
    const auto shares = RunWeather(weather, Way::kLevee, seed).Shares(Sec(0), Sec(60));
    most += std::max(shares[0], shares[1]) / InstanceSeeds();
  }
  std::cout << "E5c " << what << ": the greater share " << most << "\n";
  EXPECT_LE(most, 0.6);
}

TEST(WeatherLong, E5c_APollOfThirtySecondsTakesNoCallsFromItsInstance) {
  for (const double per_second : {50.0, 5000.0}) {
    ExpectEven("a poll beside " + std::to_string(per_second),
               {.per_second = per_second,
                .length = Sec(per_second > 1000 ? 15 : 60),
                .deadline = Sec(100),
                .endpoints = 2,
                .fate = [](const Reached& reached, Random& random) {
                  return After(reached.call == 20 ? Sec(30) : Around(Ms(1), random));
                }});
  }
}

TEST(WeatherLong, E5c_MethodsOfOneMillisecondAndFiveSeconds) {
  for (const double per_second : {5.0, 50.0}) {
    ExpectEven("methods of 1 ms and 5 s at " + std::to_string(per_second),
               {.per_second = per_second,
                .deadline = Sec(100),
                .endpoints = 2,
                .fate = [](const Reached& reached, Random& random) {
                  return After(Around(reached.call % 2 == 0 ? Sec(5) : Ms(1), random));
                }});
  }
}

TEST(WeatherLong, E5c_ABatchOfTenMinutes) {
  ExpectEven("a batch",
             {.per_second = 50,
              .deadline = absl::Minutes(20),
              .endpoints = 2,
              .fate = [](const Reached& reached, Random& random) {
                return After(reached.call == 20 ? absl::Minutes(10) : Around(Ms(5), random));
              }});
}

TEST(WeatherBlackHole, E6_OneOfThreeTakesCallsAndAnswersNone) {
  const Weather weather = {
      .per_second = 1, .callers = 30, .fate = [](const Reached& reached, Random& random) {
        return reached.endpoint == 0 ? Silence() : After(Around(Ms(10), random));
      }};
  double levee = 0, direct = 0, start = 0;
  for (int seed = 1; seed <= InstanceSeeds(); ++seed) {
    const SeenWeather seen = RunWeather(weather, Way::kLevee, seed);
    levee += seen.Success(Sec(3), Sec(60));
    start += seen.Success(Sec(0), Sec(3));
    direct += RunWeather(weather, Way::kDirect, seed).Success(Sec(3), Sec(60));
  }
  std::cout << "E6: direct " << direct / InstanceSeeds() << ", Levee first "
            << start / InstanceSeeds() << ", then " << levee / InstanceSeeds() << "\n";
  EXPECT_GE(levee / InstanceSeeds(), 0.97);
}

}  // namespace
}  // namespace levee
