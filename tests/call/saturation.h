// SPDX-License-Identifier: Apache-2.0
// A nearly saturated service that loses capacity for a moment, and how long it takes to recover.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <deque>
#include <functional>
#include <limits>
#include <utility>
#include <vector>

#include "base/random.h"
#include "call/call_fixture.h"

namespace levee {

// The load is a share of the service's capacity.
struct Saturation {
  double load = 0.9;
  Capacity capacity;  // cut_at is set by the run
  int sidecars = 1;
};

// Calls that end within 250 ms, or are tried again if the policy has retries.
inline CallPolicy TimeoutsRetried() {
  CallPolicy policy;
  policy.retry.attempt_timeout = Ms(250);
  policy.retry.failures.timeout = true;
  return policy;
}

inline CallPolicy WithoutRetries() {
  CallPolicy policy = TimeoutsRetried();
  policy.retry.max_attempts = 1;
  return policy;
}

// One run, second by second after the fault, until the service has recovered.
class SaturationRun {
 public:
  static constexpr double kNever = std::numeric_limits<double>::infinity();

  SaturationRun(const Saturation& saturation, const CallPolicy& policy, uint64_t seed)
      : saturation_(saturation), random_(seed) {
    saturation_.capacity.cut_at = absl::Seconds(kFaultAt);
    const Service service = InSlots(clock_, saturation_.capacity, seed + 1);
    for (int i = 0; i < saturation.sidecars; ++i) {
      SimSidecar& sidecar = sidecars_.emplace_back(clock_, policy, seed * 100 + i);
      sidecar.answers_are_read = false;
      sidecar.AddEndpoint([this, service](SimHost& host, AttemptId id) {
        ++Now().attempts;
        return service(host, id);
      });
    }
    clock_.After(absl::ZeroDuration(), [this] { Arrive(); });
  }

  // Returns after how many seconds from the end of the fault on the first second begins in which
  // 99% of the calls are good; kNever if that takes longer than `limit` seconds.
  double Recovery(double limit) {
    const double end = kFaultAt + absl::ToDoubleSeconds(saturation_.capacity.cut_for);
    for (double at = end; at < end + limit; at += kStep) {
      // A second more, in which the last of the calls end.
      clock_.RunFor(absl::Seconds(at + 2) - clock_.elapsed());
      if (GoodShare(at, at + 1) >= 0.99) return at - end;
    }
    return kNever;
  }

  // The share of good calls among those that began while the fault lasted.
  double GoodDuringFault() const {
    return GoodShare(kFaultAt, kFaultAt + absl::ToDoubleSeconds(saturation_.capacity.cut_for));
  }

  // Attempts per call in the worst second since the fault began.
  double WorstSecond() const {
    double worst = 0;
    // The last second is not over.
    for (size_t i = kFaultAt; i + 1 < seconds_.size(); ++i) {
      worst = std::max(worst, seconds_[i].attempts / seconds_[i].calls);
    }
    return worst;
  }

 private:
  static constexpr int kFaultAt = 11;  // the budget's window is full
  static constexpr double kStep = 0.25;

  struct Made {
    double at;  // seconds
    bool good = false;
  };

  struct Second {
    double calls = 0;  // begun
    double attempts = 0;
  };

  Second& Now() {
    const auto second = static_cast<size_t>(absl::ToInt64Seconds(clock_.elapsed()));
    if (second >= seconds_.size()) seconds_.resize(second + 1);
    return seconds_[second];
  }

  void Arrive() {
    ++Now().calls;
    const size_t n = made_.size();
    made_.push_back({absl::ToDoubleSeconds(clock_.elapsed())});
    sidecars_[n % sidecars_.size()]
        .NewCall(
            {},
            [this, n](const SimCaller& caller) { made_[n].good = caller.code == StatusCode::kOk; })
        .HalfClose();
    const double per_second = saturation_.load * saturation_.capacity.PerSecond();
    clock_.After(absl::Seconds(-std::log1p(-random_.Uniform()) / per_second), [this] { Arrive(); });
  }

  double GoodShare(double from, double to) const {
    const auto before = [](const Made& made, double at) { return made.at < at; };
    const auto first = std::lower_bound(made_.begin(), made_.end(), from, before);
    const auto last = std::lower_bound(first, made_.end(), to, before);
    const auto good = std::count_if(first, last, [](const Made& made) { return made.good; });
    return static_cast<double>(good) / static_cast<double>(last - first);
  }

  Saturation saturation_;
  Random random_;
  std::deque<SimSidecar> sidecars_;
  std::vector<Made> made_;
  std::vector<Second> seconds_;
  // Its events refer to all else, but it runs none when it is destroyed.
  SimClock clock_;
};

}  // namespace levee
