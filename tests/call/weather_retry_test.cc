// SPDX-License-Identifier: Apache-2.0
// What a retry may cost on an ordinary day: cells E1 to E4, E8, E11, E13, E15b and E16, and the
// fleets of lone callers.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iostream>
#include <ostream>
#include <string>
#include <vector>

#include "call/call_fixture.h"
#include "call/saturation.h"
#include "call/weather.h"
#include "storms/seeds.h"

namespace levee {
namespace {

int Seeds() { return static_cast<int>(StormSeeds(20)); }

Answer Good() {
  return Answer().Head(Ms(2)).Message(Ms(2), "pong").Trailers(Ms(2), StatusCode::kOk);
}

// Draws for one attempt. Of two ways a call's first attempts draw the same.
double Draw(const Reached& reached, Random& random) {
  return Random(random.Next() ^ static_cast<uint64_t>(absl::ToInt64Nanoseconds(reached.at)))
      .Uniform();
}

Answer Bad() { return Answer().Trailers(Ms(2), StatusCode::kUnavailable); }

CallPolicy WithAttempts(int max_attempts) {
  CallPolicy policy;
  policy.retry.max_attempts = max_attempts;
  policy.retry.budget.burst_least = SpareRetries(max_attempts);
  return policy;
}

// A policy's backoffs before `retries` retries take at most so long.
absl::Duration Backoffs(const CallPolicy& policy, int retries) {
  absl::Duration sum, next = policy.retry.backoff.initial;
  for (int i = 0; i < retries; ++i) {
    sum += next;
    next *= policy.retry.backoff.multiplier;
  }
  return sum;
}

// A caller who calls once a second, after each answer, and whose calls fail their first tries from
// time to time.
struct Lone {
  int max_attempts = 3;
  int failing = 1;      // tries of a call that fails
  absl::Duration hang;  // in place of failing, until attempt_timeout; zero: they fail
  int good = 30;        // calls between those that fail
  int times = 10;       // that a call fails
};

struct LoneCall {
  absl::Duration took;
  StatusCode code;
};

// Returns the calls that failed their first tries.
std::vector<LoneCall> RunLone(const Lone& lone, uint64_t seed) {
  CallPolicy policy = WithAttempts(lone.max_attempts);
  if (lone.hang > absl::ZeroDuration()) {
    policy.retry.attempt_timeout = lone.hang;
    policy.retry.failures.timeout = true;
  }
  SimClock clock;
  SimSidecar sidecar(clock, policy, seed);
  int left = 0;
  sidecar.AddEndpoint([&](SimHost&, AttemptId) {
    if (left == 0) return Good();
    --left;
    return lone.hang > absl::ZeroDuration() ? Silence() : Bad();
  });
  std::vector<LoneCall> failed;
  for (int call = 0; call <= (lone.times - 1) * (lone.good + 1); ++call) {
    const bool fails = call % (lone.good + 1) == 0;
    if (fails) left = lone.failing;
    const absl::Duration begun = clock.elapsed();
    SimHost& host = sidecar.NewCall({.timeout = Sec(10)}, [&, begun, fails](const SimCaller& end) {
      if (fails) failed.push_back({*end.finished_at - begun, end.code});
    });
    host.Send("ping", true);
    clock.RunFor(Sec(4));
    left = 0;
    clock.RunFor(Sec(1));
  }
  return failed;
}

struct LoneCase {
  int max_attempts;
  int failing;
};

void PrintTo(const LoneCase& c, std::ostream* out) {
  *out << c.failing << " of " << c.max_attempts << " tries fail";
}

class WeatherLone : public testing::TestWithParam<LoneCase> {};

// All calls succeed within `bound`. Prints how long the slowest took.
void ExpectAllGood(const std::string& what, const Lone& lone, absl::Duration bound) {
  absl::Duration most;
  for (int seed = 1; seed <= Seeds(); ++seed) {
    const auto calls = RunLone(lone, static_cast<uint64_t>(seed));
    ASSERT_EQ(calls.size(), static_cast<size_t>(lone.times));
    for (const LoneCall& call : calls) {
      EXPECT_EQ(call.code, StatusCode::kOk) << seed;
      most = std::max(most, call.took);
      EXPECT_LE(call.took, bound) << seed;
    }
  }
  std::cout << what << ": at most " << most << "\n";
}

TEST_P(WeatherLone, E1_ALoneCallHasTheTriesThatItsPolicyNames) {
  const auto& [max_attempts, failing] = GetParam();
  const bool held = failing == max_attempts - 1;
  ExpectAllGood("E1 " + testing::PrintToString(GetParam()),
                {.max_attempts = max_attempts, .failing = failing},
                Backoffs(WithAttempts(max_attempts), failing) + (held ? Ms(1200) : Ms(100)));
}

TEST_P(WeatherLone, E2_TriesThatHangCostTheirTimeAndNoMore) {
  const auto& [max_attempts, failing] = GetParam();
  ExpectAllGood(
      "E2 " + testing::PrintToString(GetParam()),
      {.max_attempts = max_attempts, .failing = failing, .hang = Ms(200), .good = 60, .times = 5},
      failing * Ms(200) + Backoffs(WithAttempts(max_attempts), failing) + Ms(1200));
}

INSTANTIATE_TEST_SUITE_P(, WeatherLone,
                         testing::Values(LoneCase{3, 1}, LoneCase{3, 2}, LoneCase{4, 1},
                                         LoneCase{4, 2}, LoneCase{4, 3}));

TEST(WeatherRetry, E1_CallsThatFailAgainAndAgainAreRefusedInTimeAndNotBeforeTheSecond) {
  for (int seed = 1; seed <= Seeds(); ++seed) {
    const auto calls = RunLone({.failing = 2, .good = 0, .times = 10}, static_cast<uint64_t>(seed));
    EXPECT_EQ(calls.front().code, StatusCode::kOk);
    for (const LoneCall& call : calls) EXPECT_LE(call.took, Ms(1200) + Ms(100));
  }
}

// What calls that begin in a fault get.
struct SecondFault {
  double first = 0;  // share of good calls of the first fault; likewise the second
  double second = 0;
  absl::Duration longest;  // of the calls that failed
};

SecondFault RunTwoFaults(double per_second, int callers, double ratio, absl::Duration between) {
  const absl::Duration begin = Sec(30), again = begin + Sec(1) + between;
  Weather weather = {.per_second = per_second,
                     .length = again + Sec(3),
                     .deadline = Sec(5),
                     .endpoints = 1,
                     .callers = callers,
                     .fate = [&](const Reached& reached, Random&) {
                       const bool fails = (reached.at >= begin && reached.at < begin + Sec(1)) ||
                                          (reached.at >= again && reached.at < again + Sec(1));
                       return fails ? Bad() : Good();
                     }};
  weather.policy.retry.budget.ratio = ratio;
  SecondFault sum;
  for (int seed = 1; seed <= Seeds(); ++seed) {
    const SeenWeather seen = RunWeather(weather, Way::kLevee, static_cast<uint64_t>(seed));
    sum.first += seen.Success(begin, begin + Sec(1)) / Seeds();
    sum.second += seen.Success(again, again + Sec(1)) / Seeds();
    for (const SeenCall& call : seen.calls) {
      if (!call.ok()) sum.longest = std::max(sum.longest, call.took);
    }
  }
  return sum;
}

TEST(WeatherRetry, E3_ASecondFaultGetsWhatTheWindowHasLeftAndNobodyWaitsInVain) {
  for (const double ratio : {0.1, 0.2}) {
    const SecondFault seen = RunTwoFaults(150, 1, ratio, Sec(3));
    std::cout << "E3 ratio " << ratio << ": " << seen.first << ", " << seen.second
              << ", lost after at most " << seen.longest << "\n";
    EXPECT_GE(seen.first, 0.9);
    if (ratio > 0.1) {
      EXPECT_GE(seen.second, 0.9);
    }
    EXPECT_LE(seen.longest, Ms(1100));
  }
}

TEST(WeatherRetry, E4_QuietSidecarsAreRescuedInASecondFaultToo) {
  const SecondFault seen = RunTwoFaults(1, 16, 0.1, Sec(3));
  std::cout << "E4 " << seen.first << ", " << seen.second << ", lost after at most " << seen.longest
            << "\n";
  EXPECT_GE(seen.first, 0.8);
  EXPECT_GE(seen.second, 0.8);
}

// Good share and latencies of the calls of all seeds.
struct Outcome {
  double good = 0;
  absl::Duration p50, p99;  // of the calls that succeeded
  absl::Duration longest_refused;
};

Outcome OutcomeOf(const Weather& weather, Way way, int seeds) {
  std::vector<absl::Duration> took;
  Outcome outcome;
  size_t calls = 0;
  for (int seed = 1; seed <= seeds; ++seed) {
    const SeenWeather seen = RunWeather(weather, way, static_cast<uint64_t>(seed));
    for (const SeenCall& call : seen.calls) {
      ++calls;
      if (call.ok()) {
        took.push_back(call.took);
      } else {
        outcome.longest_refused = std::max(outcome.longest_refused, call.took);
      }
    }
  }
  std::sort(took.begin(), took.end());
  outcome.good = static_cast<double>(took.size()) / static_cast<double>(calls);
  outcome.p50 = took[took.size() / 2];
  outcome.p99 = took[took.size() * 99 / 100];
  return outcome;
}

void PrintOutcome(const std::string& what, const Outcome& outcome) {
  std::cout << what << ": good " << outcome.good << ", p50 " << outcome.p50 << ", p99 "
            << outcome.p99 << ", refused after at most " << outcome.longest_refused << "\n";
}

Weather Failing(double share, double per_second, absl::Duration length) {
  return {.per_second = per_second,
          .length = length,
          .endpoints = 1,
          .fate = [share](const Reached& reached, Random& random) {
            return Draw(reached, random) < share ? Bad() : Good();
          }};
}

// gRPC repeats a stream that was refused once, whatever its policy.
TEST(WeatherRetry, E8_AServiceThatRefusesThreeOfTenStreamsCostsNobodyMoreThanDirectly) {
  const Weather weather = {.per_second = 50,
                           .length = Sec(60),
                           .deadline = Sec(5),
                           .endpoints = 1,
                           .fate = [](const Reached& reached, Random& random) {
                             return Draw(reached, random) < 0.3 ? RefusedStream() : Good();
                           }};
  const Outcome direct = OutcomeOf(weather, Way::kDirect, Seeds());
  const Outcome levee = OutcomeOf(weather, Way::kLevee, Seeds());
  PrintOutcome("E8 directly", direct);
  PrintOutcome("E8 Levee", levee);
  EXPECT_GE(levee.good, direct.good - 0.001);
  EXPECT_LE(levee.p50, direct.p50);
  EXPECT_LE(levee.p99, Ms(150));
}

TEST(WeatherRetry, E8_AnOutageByRefusedStreamsCostsAFewRetries) {
  Weather weather = {
      .per_second = 100, .length = Sec(20), .endpoints = 1, .fate = [](const Reached&, Random&) {
        return RefusedStream();
      }};
  const SeenWeather seen = RunWeather(weather, Way::kLevee, 1);
  double attempts = 0;
  for (const auto& second : seen.attempts) attempts += second[0];
  EXPECT_LE(attempts, static_cast<double>(seen.calls.size()) + 8);
}

TEST(WeatherRetry, E11_WhereAPartOfManyCallsFailsForMinutesNobodyWaits) {
  for (const auto& [share, least] : {std::pair(0.1, 0.986), std::pair(0.3, 0.755)}) {
    const Outcome levee = OutcomeOf(Failing(share, 500, Sec(120)), Way::kLevee, 1);
    PrintOutcome("E11 Levee", levee);
    EXPECT_GE(levee.good, least);
    EXPECT_LE(levee.p99, Ms(150));
    EXPECT_LE(levee.longest_refused, Ms(600));
  }
}

TEST(WeatherRetry, E15b_WhereThreeOfTenFailACallIsNoWorseOffForTheWait) {
  Weather weather = Failing(0.3, 10, Sec(20));
  weather.deadline = Sec(1);
  const Outcome levee = OutcomeOf(weather, Way::kLevee, 10 * Seeds());
  weather.policy.retry.budget.wait = Ms(1);
  const Outcome without = OutcomeOf(weather, Way::kLevee, 10 * Seeds());
  PrintOutcome("E15b Levee", levee);
  PrintOutcome("E15b with wait: 1ms", without);
  EXPECT_GE(levee.good, without.good - 0.001);
  EXPECT_LE(levee.p99, Ms(400));
  EXPECT_LE(levee.longest_refused, Ms(1000));
}

TEST(WeatherRetry, E13_ABusyServiceDrainsNearlyAsSoonAsWithoutRetries) {
  const Saturation cut = {
      .load = 0.92, .capacity = {.cut_for = Sec(2.4), .left = 0.5}, .sidecars = 1};
  double without = 0, one = 0, many = 0;
  for (int seed = 1; seed <= Seeds(); ++seed) {
    Saturation fleet = cut;
    fleet.sidecars = 30;
    without += SaturationRun(cut, WithoutRetries(), static_cast<uint64_t>(seed)).Recovery(100);
    one += SaturationRun(cut, TimeoutsRetried(), static_cast<uint64_t>(seed)).Recovery(100);
    many += SaturationRun(fleet, TimeoutsRetried(), static_cast<uint64_t>(seed)).Recovery(100);
  }
  std::cout << "E13 back after " << without / Seeds() << " s without retries, " << one / Seeds()
            << " s with one sidecar, " << many / Seeds() << " s with 30\n";
  EXPECT_LE(one, 1.1 * without);
  EXPECT_LE(many, 1.2 * without);
}

// A pool of threads each of which makes a call, waits for its answer and makes the next one, to a
// service that dies and to a healthy one in turn.
struct ThreadPool {
  // How long the healthy one's work had to wait for a thread, in milliseconds: p99 of what was due
  // from `from` on.
  double wait = 0;
  int most_taken = 0;  // threads
};

ThreadPool RunThreadPool(bool dead_fails_at_once, absl::Duration from, uint64_t seed) {
  SimClock clock;
  CallPolicy policy;
  if (dead_fails_at_once) policy.retry.max_attempts = 1;
  SimSidecar dead(clock, policy, seed);
  SimSidecar healthy(clock, CallPolicy(), seed + 1);
  dead.AddEndpoint([&](SimHost&, AttemptId) { return clock.elapsed() < Sec(15) ? Good() : Bad(); });
  healthy.AddEndpoint(InTurn({Good()}));
  Random random(seed);
  int threads = 64;
  struct Work {
    absl::Duration due;
    bool to_dead;
  };
  std::vector<Work> queue;
  size_t next = 0;
  ThreadPool pool;
  std::vector<double> waited;
  std::function<void()> serve = [&] {
    while (threads > 0 && next < queue.size()) {
      const Work work = queue[next++];
      pool.most_taken = std::max(pool.most_taken, 64 - --threads);
      if (!work.to_dead && work.due >= from) {
        waited.push_back(absl::ToDoubleMilliseconds(clock.elapsed() - work.due));
      }
      SimHost& call =
          (work.to_dead ? dead : healthy).NewCall({.timeout = Sec(5)}, [&](const SimCaller&) {
            ++threads;
            clock.After(absl::ZeroDuration(), [&] { serve(); });
          });
      call.Send("ping", true);
    }
  };
  for (absl::Duration at; at < Sec(45); at += Sec(-0.01 * std::log1p(-random.Uniform()))) {
    clock.After(at, [&, at] {
      queue.push_back({at, random.Uniform() < 0.5});
      serve();
    });
  }
  clock.Run();
  std::sort(waited.begin(), waited.end());
  pool.wait = waited[waited.size() * 99 / 100];
  return pool;
}

TEST(WeatherRetry, E16_ADeadServiceHoldsThePoolOfItsCallersOnce) {
  for (int seed = 1; seed <= Seeds(); ++seed) {
    const auto number = static_cast<uint64_t>(seed);
    const double at_once = RunThreadPool(true, Sec(16.2), number).wait;
    const double levee = RunThreadPool(false, Sec(16.2), number).wait;
    EXPECT_LE(levee, at_once + 50) << seed;
  }
  for (const double from : {15.0, 15.5, 16.0}) {
    const ThreadPool pool = RunThreadPool(false, Sec(from), 1);
    std::cout << "E16 waits for a thread from " << from - 15 << " s on: " << pool.wait << " ms, "
              << pool.most_taken << " of 64 taken at most\n";
  }
}

// Attempts per call of a fleet in an outage.
struct FleetAttempts {
  double whole = 0;
  double first_second = 0;
};

FleetAttempts RunFleet(const CallPolicy& policy, int callers, double per_second,
                       absl::Duration length, int seeds) {
  const Weather weather = {.per_second = per_second,
                           .length = length + Sec(2),
                           .deadline = Sec(5),
                           .endpoints = 1,
                           .callers = callers,
                           .policy = policy,
                           .fate = [&](const Reached& reached, Random&) {
                             return reached.at < Sec(2) ? Good() : Bad();
                           }};
  FleetAttempts sum;
  for (int seed = 1; seed <= seeds; ++seed) {
    const SeenWeather seen = RunWeather(weather, Way::kLevee, static_cast<uint64_t>(seed));
    double all = 0, first = 0;
    for (size_t second = 2; second < seen.attempts.size(); ++second) {
      all += seen.attempts[second][0];
      if (second == 2) first += seen.attempts[second][0];
    }
    double calls = 0, first_calls = 0;
    for (const SeenCall& call : seen.calls) {
      if (call.begun >= Sec(2)) ++calls;
      if (call.begun >= Sec(2) && call.begun < Sec(3)) ++first_calls;
    }
    sum.whole += all / calls / seeds;
    sum.first_second += first / first_calls / seeds;
  }
  return sum;
}

TEST(WeatherFleet, QuietSidecarsSendFewMoreInAnOutageWhateverMaxAttemptsIs) {
  for (const auto& [attempts, first] :
       {std::pair(3, 1.6), std::pair(4, 2.15), std::pair(10, 2.15)}) {
    const FleetAttempts seen = RunFleet(WithAttempts(attempts), 30, 1.3, Sec(20), Seeds());
    std::cout << "30 x 1.3/s, " << attempts << " attempts: " << seen.whole << ", first second "
              << seen.first_second << "\n";
    EXPECT_LE(seen.whole, 1.15);
    EXPECT_LE(seen.first_second, first);
  }
}

TEST(WeatherFleet, CallersOfOneCallAMinuteSendAFifthMoreInAnOutageOfTwentyMinutes) {
  // Callers have nothing in common, so a thousand stand for ten thousand.
  const FleetAttempts seen = RunFleet(CallPolicy(), 1000, 1.0 / 60, absl::Minutes(20), 1);
  std::cout << "1000 x 1/min, 20 min: " << seen.whole << "\n";
  EXPECT_LE(seen.whole, 1.25);
}

}  // namespace
}  // namespace levee
