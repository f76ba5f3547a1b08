// SPDX-License-Identifier: Apache-2.0
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <list>
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/memory_account.h"
#include "call/replay_memory.h"
#include "config/load.h"
#include "insight/recent_calls.h"
#include "log/event_log.h"
#include "server/budget_table.h"
#include "server/rate_limit_table.h"
#include "server/throttle_table.h"
#include "server/worker.h"
#include "settings/snapshot.h"
#include "sim/observed.h"
#include "sim/real_peers.h"
#include "sim/sim_clock.h"
#include "sim/twin_case.h"
#include "sim/twin_time.h"
#include "telemetry/metrics.h"
#include "virtual/virtual_time.h"

namespace levee {
namespace {

constexpr int kMostEndpoints = 3;
constexpr int kBacklog = 16;
constexpr int kStillTurns = 2;  // What a turn posts to the next one may move something.

// The sockets of the endpoints, as long as the process lives.
class Sockets {
 public:
  static const Sockets& Get() {
    static const Sockets sockets;
    return sockets;
  }
  int fd(int endpoint) const { return fds_.at(static_cast<size_t>(endpoint)); }
  static std::string Path(int endpoint) {
    return absl::StrCat("/tmp/levee-twin-", getpid(), "-", endpoint, ".sock");
  }

 private:
  Sockets() {
    for (int i = 0; i < kMostEndpoints; ++i) {
      sockaddr_un address{};
      address.sun_family = AF_UNIX;
      const std::string path = Path(i);
      LEVEE_CHECK(path.copy(address.sun_path, sizeof address.sun_path - 1) == path.size());
      const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
      unlink(path.c_str());
      LEVEE_CHECK(bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
      LEVEE_CHECK(listen(fd, kBacklog) == 0);
      fds_[static_cast<size_t>(i)] = fd;
    }
  }
  ~Sockets() {
    for (int i = 0; i < kMostEndpoints; ++i) {
      close(fd(i));
      unlink(Path(i).c_str());
    }
  }

  std::array<int, kMostEndpoints> fds_{};
};

std::shared_ptr<const Snapshot> SnapshotOf(const TwinCase& twin) {
  // The defaults; above all those of limits.
  static const std::shared_ptr<const Snapshot> defaults = *ParseConfig("defaults", "{}");
  auto snapshot = std::make_shared<Snapshot>(*defaults);
  snapshot->upstreams = {UpstreamSpec()};
  UpstreamSpec& upstream = snapshot->upstreams.front();
  upstream.name = "cart";
  snapshot->policies = {twin.policy};
  snapshot->routes = RouteTable({Route()});
  snapshot->overload = twin.overload;
  return snapshot;
}

std::shared_ptr<const EndpointList> EndpointsOf(const TwinCase& twin) {
  auto endpoints = std::make_shared<EndpointList>();
  for (int i = 0; i < twin.endpoints; ++i) {
    endpoints->push_back({.kind = EndpointSpec::Kind::kUnix, .host = "", .path = Sockets::Path(i)});
  }
  return endpoints;
}

const Hops kHops = {{Direction::kEgress, "2 levee-test"}, {Direction::kInbound, "2 levee-test-in"}};

class RealRun {
 public:
  explicit RealRun(const TwinCase& twin)
      : snapshot_(SnapshotOf(twin)),
        metrics_({.settings = {.upstreams = {"cart"}}}),
        budgets_(1, snapshot_->limits.destinations),
        shadow_budgets_(1, snapshot_->limits.destinations),
        throttles_(1, snapshot_->limits.destinations),
        replay_(snapshot_->limits.replay_bytes),
        shared_{metrics_, budgets_, shadow_budgets_, throttles_,        rate_limits_,
                replay_,  memory_,  recent_,         tls_destinations_, log_,
                guards_,  dedupes_, ties_,           capture_loops_,    kHops},
        stage_{.twin = twin, .clock = clock_, .begin = {}, .attempts = {}} {
    VirtualTime::Restart();
    Advance(kToWholeMillisecond);
    stage_.begin = clock_.now();
    stage_.attempts.resize(twin.calls.size());
    worker_ = std::make_unique<Worker>(0, snapshot_, shared_);
    worker_->PostEndpoints("cart", EndpointsOf(twin));
    worker_->PostConfig({.snapshot = snapshot_}, [] {});
    caller_ = std::make_unique<RealCaller>(Connect(), stage_);
    for (size_t n = 0; n < twin.calls.size(); ++n) {
      clock_.After(twin.calls[n].at, [this, n] { caller_->Start(n); });
    }
  }

  ~RealRun() {
    worker_->PostStop();
    worker_->loop().Run();
    worker_.reset();
    for (int i = 0; i < kMostEndpoints; ++i) {
      for (int fd = Accept(i); fd >= 0; fd = Accept(i)) close(fd);
    }
  }

  Observed Run() {
    Settle();
    while (!caller_->done()) {
      const absl::Duration worker = worker_->wheel().NextWakeup() - VirtualTime::now();
      Advance(std::max(absl::ZeroDuration(), std::min(worker, clock_.next() - clock_.now())));
      Settle();
    }
    Observed observed;
    observed.tied = stage_.tied;
    for (size_t n = 0; n < stage_.attempts.size(); ++n) Describe(n, observed);
    return observed;
  }

 private:
  int Connect() {
    std::array<int, 2> ends{};
    LEVEE_CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends.data()) == 0);
    worker_->PostConnection(
        net::ByteStream(ends[0]),
        {.listener = std::shared_ptr<const ListenerSpec>(snapshot_, snapshot_->listeners.data()),
         .destination = ""});
    return ends[1];
  }

  static int Accept(int endpoint) {
    return accept4(Sockets::Get().fd(endpoint), nullptr, nullptr, SOCK_NONBLOCK);
  }

  // The other ends first, as their bytes are what a turn begins with.
  void Advance(absl::Duration span) {
    VirtualTime::Advance(span);
    clock_.RunFor(span);
  }

  bool Pump() {
    bool moved = caller_->Pump();
    for (int i = 0; i < stage_.twin.endpoints; ++i) {
      for (int fd = Accept(i); fd >= 0; fd = Accept(i)) {
        upstreams_.push_back(std::make_unique<RealUpstream>(fd, i, stage_));
      }
    }
    for (const auto& upstream : upstreams_) moved = upstream->Pump() || moved;
    return moved;
  }

  void Settle() {
    for (int still = 0; still < kStillTurns;) {
      still = Pump() ? 0 : still + 1;
      worker_->loop().Stop();
      worker_->loop().Run();
    }
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
    for (const RememberedCall& call : recent_.Read(0)) {
      if (call.record.start - stage_.begin == stage_.twin.calls[n].at) {
        observed.text += Text(call.record);
      }
    }
  }

  const std::shared_ptr<const Snapshot> snapshot_;
  Metrics metrics_;
  RecentCalls recent_;
  EventLog log_;
  BudgetTable budgets_;
  BudgetTable shadow_budgets_;
  ThrottleTable throttles_;
  RateLimitTable rate_limits_;
  ReplayMemory replay_;
  MemoryAccount memory_{int64_t{1} << 40};
  TlsDestinations tls_destinations_;
  CaptureLoops capture_loops_{log_};
  GuardTable guards_{1, [this](int) { worker_->PostLookAtGuards(); }};
  DedupeStores dedupes_{1, [this](int) { worker_->PostLookAtDedupes(); }};
  Ties ties_{1, [this](TraceNumber trace) { worker_->PostGone(trace); }};
  Shared shared_;
  SimClock clock_;
  RealStage stage_;
  std::unique_ptr<Worker> worker_;
  std::unique_ptr<RealCaller> caller_;
  std::list<std::unique_ptr<RealUpstream>> upstreams_;
};

}  // namespace

Observed RunReal(const TwinCase& twin) { return RealRun(twin).Run(); }

}  // namespace levee
