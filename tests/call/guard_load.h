// SPDX-License-Identifier: Apache-2.0
// Load on a guarded service: callers that do not wait, and what became of their calls.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/random.h"
#include "call/call_fixture.h"
#include "sim/loaded_service.h"

namespace levee {

// One call of a run. Times are seconds of the run.
struct LoadCall {
  double at = 0;
  double ended = -1;  // -1: not yet
  StatusCode code = StatusCode::kUnknown;
  std::optional<GuardDecision> decision;
  RequestFacts facts;
  absl::Duration work;                  // in the service
  StatusCode answer = StatusCode::kOk;  // of the service
  int method = 0;
  bool ok() const { return code == StatusCode::kOk; }
  double took() const { return ended - at; }
};

// Which calls of a run are counted.
inline constexpr auto kAll = [](const LoadCall&) { return true; };
inline constexpr auto kGood = [](const LoadCall& call) { return call.ok(); };
inline constexpr auto kRefused = [](const LoadCall& call) {
  return call.code == StatusCode::kResourceExhausted;
};

// The load of a run is the same all the time.
inline std::function<double(double)> Steady(double load) {
  return [load](double) { return load; };
}

// A service of W slots behind a guard, under a Poisson load.
struct GuardLoad {
  WorkKind kind = WorkKind::kFixed;
  int slots = 8;
  absl::Duration work = Ms(10);  // of the average call
  double deadline = 1;           // seconds
  double seconds = 20;
  // Offered calls, as a share of what the service can do.
  std::function<double(double at)> load = [](double) { return 1.0; };
  // Slots of the service; those of `slots` if it is empty.
  std::function<int(double at)> slots_at;
  // Changes the n-th call.
  std::function<void(int64_t n, LoadCall& call)> shape;

  double PerSecond() const { return slots / absl::ToDoubleSeconds(work); }
};

class GuardRun {
 public:
  // `rule`: for the limit; nullptr: that of the policy.
  GuardRun(const GuardLoad& load, uint64_t seed, const GuardPolicy& policy = {},
           std::unique_ptr<LimitRule> rule = nullptr)
      : load_(load),
        random_(seed),
        service_(clock_, load.kind, load.slots, seed + 1),
        sidecar_(clock_, PolicyOf(policy), seed + 2) {
    sidecar_.inbound = true;
    sidecar_.limit_rule = std::move(rule);
    const auto call_of = [this](const SimHost& host) -> const LoadCall& {
      return calls_[host.origin().trace - 1];
    };
    sidecar_.AddEndpoint(
        service_.Methods([call_of](const SimHost& host) { return call_of(host).work; },
                         [call_of](const SimHost& host) { return call_of(host).answer; }));
    clock_.After(absl::ZeroDuration(), [this] { Arrive(); });
    clock_.After(absl::ZeroDuration(), [this] { EachTenth(); });
    clock_.RunFor(absl::Seconds(load_.seconds + load_.deadline + 0.5));
  }

  const GuardLoad& load() const { return load_; }
  const std::deque<LoadCall>& calls() const { return calls_; }
  const std::vector<int>& limits() const { return limits_; }  // each tenth of a second
  GuardView view() { return sidecar_.guard()->guard().View(clock_.now()); }

  // The calls that came in [from, to), as many of them as `is` says.
  template <typename F>
  int64_t Count(double from, double to, F is) const {
    return std::count_if(calls_.begin(), calls_.end(), [&](const LoadCall& call) {
      return call.at >= from && call.at < to && is(call);
    });
  }

  // Good answers per second in [from, to), as a share of what the service can do or was offered.
  double Goodput(double from, double to) const {
    const auto good = std::count_if(calls_.begin(), calls_.end(), [&](const LoadCall& call) {
      return call.ok() && call.ended >= from && call.ended < to;
    });
    const auto offered = static_cast<double>(Count(from, to, [](const LoadCall&) { return true; }));
    return static_cast<double>(good) / std::min(offered, load_.PerSecond() * (to - from));
  }

  // The quantile `q` of the time, in milliseconds, that calls of [from, to) took which `is` says.
  template <typename F>
  double QuantileMs(double q, double from, double to, F is) const {
    std::vector<double> took;
    for (const LoadCall& call : calls_) {
      if (call.at >= from && call.at < to && is(call)) took.push_back(call.took());
    }
    if (took.empty()) return 0;
    const auto nth = took.begin() + static_cast<int64_t>(q * static_cast<double>(took.size()));
    std::nth_element(took.begin(), nth, took.end());
    return *nth * 1000;
  }

 private:
  static CallPolicy PolicyOf(const GuardPolicy& guard) {
    CallPolicy policy;
    policy.retry.max_attempts = 1;
    policy.throttle.reset();
    policy.guard = guard;
    return policy;
  }

  double now() const { return absl::ToDoubleSeconds(clock_.elapsed()); }

  void Arrive() {
    if (now() >= load_.seconds) return;
    LoadCall& call = calls_.emplace_back();
    call.at = now();
    call.facts.timeout = absl::Seconds(load_.deadline);
    call.facts.priority = 64;
    call.work = load_.work;
    if (load_.shape) load_.shape(static_cast<int64_t>(calls_.size()) - 1, call);
    SimHost& host =
        sidecar_.NewCall(call.facts, [&call](const SimCaller& caller) { OnEnd(call, caller); },
                         {.trace = calls_.size(), .method = call.method});
    host.HalfClose();
    const double rate = load_.PerSecond() * load_.load(now());
    clock_.After(absl::Seconds(-std::log1p(-random_.Uniform()) / rate), [this] { Arrive(); });
  }

  static void OnEnd(LoadCall& call, const SimCaller& caller) {
    call.ended = absl::ToDoubleSeconds(*caller.finished_at);
    call.code = caller.code;
    call.decision = caller.guard.decision;
  }

  void EachTenth() {
    if (load_.slots_at) service_.SetSlots(load_.slots_at(now()));
    limits_.push_back(view().limit);
    if (now() < load_.seconds) clock_.After(Ms(100), [this] { EachTenth(); });
  }

  const GuardLoad load_;
  Random random_;
  std::deque<LoadCall> calls_;  // the trace of each is its place here, from 1
  std::vector<int> limits_;
  SimClock clock_;
  LoadedService service_;
  SimSidecar sidecar_;
};

}  // namespace levee
