// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <algorithm>
#include <array>
#include <list>
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "config/load.h"
#include "insight/recent_calls.h"
#include "settings/snapshot.h"
#include "sim/observed.h"
#include "sim/real_peers.h"
#include "sim/sim_clock.h"
#include "sim/twin_case.h"
#include "sim/twin_time.h"
#include "virtual/virtual_time.h"
#include "virtual/virtual_worker.h"

namespace levee {
namespace {

constexpr int kStillTurns = 2;  // What a turn posts to the next one may move something.

// As long as the process lives.
const VirtualEndpoint& UpstreamEnd(int number) {
  static const std::array<VirtualEndpoint, kMostEndpoints> endpoints;
  return endpoints.at(static_cast<size_t>(number));
}

std::shared_ptr<const Snapshot> SnapshotOf(const TwinCase& twin) {
  // The defaults; above all those of limits.
  static const std::shared_ptr<const Snapshot> defaults = *ParseConfig("defaults", "{}");
  auto snapshot = std::make_shared<Snapshot>(*defaults);
  snapshot->upstreams = {UpstreamSpec()};
  UpstreamSpec& upstream = snapshot->upstreams.front();
  upstream.name = "cart";
  upstream.connect_wait = twin.connect_wait;
  snapshot->policies = {twin.policy};
  snapshot->routes = RouteTable({Route()});
  snapshot->overload = twin.overload;
  snapshot->otlp = OtlpSpec{.sample = 1};
  return snapshot;
}

std::shared_ptr<const EndpointList> EndpointsOf(const TwinCase& twin) {
  auto endpoints = std::make_shared<EndpointList>();
  for (int i = 0; i < twin.endpoints; ++i) {
    const std::string path = twin.reachable ? UpstreamEnd(i).path() : "/nowhere/cart.sock";
    endpoints->push_back({.kind = EndpointSpec::Kind::kUnix, .host = "", .path = path});
  }
  return endpoints;
}

class RealRun {
 public:
  explicit RealRun(const TwinCase& twin)
      : stage_{.twin = twin, .clock = clock_, .begin = {}, .attempts = {}} {
    VirtualTime::Restart();
    Advance(kToWholeMillisecond);
    stage_.begin = clock_.now();
    stage_.attempts.resize(twin.calls.size());
    virtual_ = std::make_unique<VirtualWorker>(SnapshotOf(twin), "cart", EndpointsOf(twin));
    caller_ = std::make_unique<RealCaller>(virtual_->Connect(), stage_);
    for (size_t n = 0; n < twin.calls.size(); ++n) {
      clock_.After(twin.calls[n].at, [this, n] { caller_->Start(n); });
    }
    if (twin.breaks_at.has_value()) {
      clock_.After(*twin.breaks_at, [this] { virtual_->BreakCalls(); });
    }
  }

  ~RealRun() {
    virtual_.reset();
    for (int i = 0; i < kMostEndpoints; ++i) {
      for (int fd = UpstreamEnd(i).Accept(); fd >= 0; fd = UpstreamEnd(i).Accept()) close(fd);
    }
  }

  Observed Run() {
    Settle();
    while (!caller_->done()) {
      Advance(
          std::max(absl::ZeroDuration(), std::min(virtual_->Idle(), clock_.next() - clock_.now())));
      Settle();
    }
    Observed observed;
    observed.tied = stage_.tied;
    for (size_t n = 0; n < stage_.attempts.size(); ++n) Describe(n, observed);
    observed.broken_calls = virtual_->broken_calls();
    observed.traced = virtual_->spans().calls().size() == stage_.attempts.size();
    for (const auto& attempts : stage_.attempts) observed.traced &= HasSpans(attempts);
    return observed;
  }

 private:
  // The other ends first, as their bytes are what a turn begins with.
  void Advance(absl::Duration span) {
    VirtualTime::Advance(span);
    clock_.RunFor(span);
  }

  bool Pump() {
    bool moved = caller_->Pump();
    for (int i = 0; i < stage_.twin.endpoints; ++i) {
      for (int fd = UpstreamEnd(i).Accept(); fd >= 0; fd = UpstreamEnd(i).Accept()) {
        upstreams_.push_back(std::make_unique<RealUpstream>(fd, i, stage_));
      }
    }
    for (const auto& upstream : upstreams_) moved = upstream->Pump() || moved;
    return moved;
  }

  void Settle() {
    for (int still = 0; still < kStillTurns;) {
      still = Pump() ? 0 : still + 1;
      virtual_->Turn();
    }
  }

  // Whether one call has a span for each of these attempts, in their order. An attempt that never
  // reached the service has a span as well.
  bool HasSpans(const std::vector<SeenAttempt>& attempts) const {
    if (attempts.empty()) return true;
    for (const CallSpans& call : virtual_->spans().calls()) {
      size_t found = 0;
      for (const AttemptSpan& span : call.attempts) {
        if (found < attempts.size() && attempts[found].span == span.id) ++found;
      }
      if (found == attempts.size()) return true;
    }
    return false;
  }

  void Describe(size_t n, Observed& observed) {
    absl::StrAppend(&observed.text, "call ", n, "\n");
    std::vector<Observed::Attempt>& attempts = observed.attempts.emplace_back();
    for (const SeenAttempt& attempt : stage_.attempts[n]) {
      attempts.push_back(
          {.endpoint = attempt.endpoint, .cancelled = attempt.cancelled_at.has_value()});
      observed.text += Text(attempt);
    }
    observed.text += caller_->answer(n);
    for (const RememberedCall& call : virtual_->recent().Read(0)) {
      if (call.record.start - stage_.begin == stage_.twin.calls[n].at) {
        observed.text += Text(call.record);
      }
    }
  }

  SimClock clock_;
  RealStage stage_;
  std::unique_ptr<VirtualWorker> virtual_;
  std::unique_ptr<RealCaller> caller_;
  std::list<std::unique_ptr<RealUpstream>> upstreams_;
};

}  // namespace

std::string NameOfEndpoint(int number) { return "unix:" + UpstreamEnd(number).path(); }

Observed RunReal(const TwinCase& twin) { return RealRun(twin).Run(); }

}  // namespace levee
