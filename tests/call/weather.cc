// SPDX-License-Identifier: Apache-2.0
#include "call/weather.h"

#include <cmath>
#include <memory>
#include <utility>

#include "sim/sim_clock.h"
#include "sim/sim_host.h"
#include "sim/sim_sidecar.h"

namespace levee {
namespace {

// A watch sees within this time that a kernel does not answer (upstream/silence_watch.h).
constexpr absl::Duration kNoticed = absl::Milliseconds(700);

// A number of its own for every pair, so that neighbours have nothing in common.
uint64_t Mix(uint64_t a, uint64_t b) { return Random(a * 0x9e3779b97f4a7c15u ^ b).Next(); }

CallPolicy PolicyOf(const Weather& weather, Way way) {
  if (way == Way::kLevee) return weather.policy;
  CallPolicy policy;
  policy.throttle.reset();
  policy.retry.max_attempts = 1;
  policy.retry.exhausted = ExhaustedMode::kKeep;
  policy.retry.min_remaining = false;
  if (way == Way::kGrpc) {
    policy.retry.max_attempts = 4;
    policy.retry.backoff.initial = absl::Milliseconds(25);
    policy.retry.backoff.multiplier = 2;
    policy.retry.budget.floor_per_second = 1e6;
    policy.retry.budget.floor_min_success = 0;
    policy.retry.budget.burst_least = 1e6;
  }
  return policy;
}

class WeatherRun {
 public:
  WeatherRun(const Weather& weather, Way way, uint64_t seed) : weather_(weather), seed_(seed) {
    for (int i = 0; weather.service && i < weather.endpoints; ++i) {
      services_.push_back(weather.service(clock_, i, Mix(seed, 7000 + static_cast<uint64_t>(i))));
    }
    for (int i = 0; i < weather.callers; ++i) AddCaller(way, Mix(seed, static_cast<uint64_t>(i)));
  }

  SeenWeather Run() {
    if (weather_.dark_from < absl::InfiniteDuration()) {
      clock_.After(weather_.dark_from + kNoticed, [this] { SetSilent(true); });
    }
    if (weather_.dark_until < absl::InfiniteDuration()) {
      clock_.After(weather_.dark_until, [this] { SetSilent(false); });
    }
    for (size_t i = 0; i < callers_.size(); ++i) {
      clock_.After(Gap(i), [this, i] { Next(i); });
    }
    clock_.Run();
    return std::move(seen_);
  }

 private:
  struct Caller {
    std::unique_ptr<SimSidecar> sidecar;
    Random arrivals;
  };

  void SetSilent(bool silent) {
    for (const Caller& caller : callers_) {
      for (int i = 0; i < weather_.dark; ++i) caller.sidecar->endpoints().SetSilent(i, silent);
    }
  }

  void AddCaller(Way way, uint64_t seed) {
    auto sidecar = std::make_unique<SimSidecar>(clock_, PolicyOf(weather_, way), seed);
    if (way != Way::kLevee) sidecar->endpoints().TakeTurns();
    for (int endpoint = 0; endpoint < weather_.endpoints; ++endpoint) {
      sidecar->AddEndpoint([this, endpoint](SimHost& host, AttemptId id) {
        const Reached reached = {.call = static_cast<int64_t>(host.origin().trace) - 1,
                                 .endpoint = endpoint,
                                 .at = clock_.elapsed()};
        Count(reached);
        if (weather_.service) return services_[static_cast<size_t>(endpoint)](host, id);
        Random random(Mix(
            seed_, static_cast<uint64_t>(reached.call) * 1000 + static_cast<uint64_t>(endpoint)));
        return weather_.fate(reached, random);
      });
    }
    callers_.push_back({std::move(sidecar), Random(seed)});
  }

  void Count(const Reached& reached) {
    const auto second = static_cast<size_t>(absl::ToInt64Seconds(reached.at));
    while (seen_.attempts.size() <= second) {
      seen_.attempts.emplace_back(static_cast<size_t>(weather_.endpoints));
    }
    ++seen_.attempts[second][static_cast<size_t>(reached.endpoint)];
  }

  absl::Duration Gap(size_t caller) {
    const double even = 1 / weather_.per_second;
    const double drawn = callers_[caller].arrivals.Uniform();
    return absl::Seconds(weather_.even ? even : -even * std::log1p(-drawn));
  }

  void Next(size_t caller) {
    if (clock_.elapsed() >= weather_.length) return;
    const size_t number = seen_.calls.size();
    seen_.calls.push_back({.begun = clock_.elapsed()});
    SimHost& call = callers_[caller].sidecar->NewCall(
        {.timeout = weather_.deadline},
        [this, number](const SimCaller& end) {
          seen_.calls[number].took = *end.finished_at - seen_.calls[number].begun;
          seen_.calls[number].code = end.code;
        },
        {.trace = number + 1});
    call.Send("ping", true);
    clock_.After(Gap(caller), [this, caller] { Next(caller); });
  }

  const Weather& weather_;
  const uint64_t seed_;
  SimClock clock_;
  std::vector<Service> services_;
  std::vector<Caller> callers_;
  SeenWeather seen_;
};

}  // namespace

double SeenWeather::Success(absl::Duration from, absl::Duration to) const {
  int64_t all = 0, good = 0;
  for (const SeenCall& call : calls) {
    if (call.begun < from || call.begun >= to) continue;
    ++all;
    if (call.ok()) ++good;
  }
  return all == 0 ? 1 : static_cast<double>(good) / static_cast<double>(all);
}

int64_t SeenWeather::Lost(absl::Duration from, absl::Duration to) const {
  int64_t lost = 0;
  for (const SeenCall& call : calls) {
    if (call.begun >= from && call.begun < to && !call.ok()) ++lost;
  }
  return lost;
}

std::vector<double> SeenWeather::Shares(absl::Duration from, absl::Duration to) const {
  std::vector<double> shares;
  double all = 0;
  for (size_t second = 0; second < attempts.size(); ++second) {
    const absl::Duration at = absl::Seconds(static_cast<int64_t>(second));
    if (at < from || at >= to) continue;
    shares.resize(attempts[second].size());
    for (size_t i = 0; i < shares.size(); ++i) {
      shares[i] += attempts[second][i];
      all += attempts[second][i];
    }
  }
  for (double& share : shares) share /= all;
  return shares;
}

SeenWeather RunWeather(const Weather& weather, Way way, uint64_t seed) {
  return WeatherRun(weather, way, seed).Run();
}

}  // namespace levee
