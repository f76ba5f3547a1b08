#include "sidecar/sidecar.h"

#include <chrono>
#include <condition_variable>
#include <iterator>
#include <mutex>
#include <utility>

#include "absl/strings/str_cat.h"
#include "net/terminal.h"

namespace levee {
namespace {

// Listeners keep accepting until this long has passed without a call or a connection.
constexpr absl::Duration kQuiet = absl::Seconds(1);
constexpr absl::Duration kDrainCheck = absl::Milliseconds(20);

// Between the announcement and the end, so that a caller's last request, sent before it saw the
// announcement, is still served.
constexpr absl::Duration kGoawayTime = absl::Milliseconds(200);

constexpr absl::Duration kBetweenWarnings = absl::Minutes(1);

// A loop that runs answers within a turn; one that has ended never does.
constexpr absl::Duration kPatience = absl::Seconds(1);
constexpr std::chrono::milliseconds kLookAgain(50);

}  // namespace

absl::StatusOr<std::unique_ptr<Sidecar>> Sidecar::Open(std::shared_ptr<const Snapshot> snapshot,
                                                       int workers, Metrics& metrics,
                                                       RecentCalls& recent_calls,
                                                       net::LineWriter* access_log) {
  std::unique_ptr<Sidecar> sidecar(new Sidecar(snapshot, workers, metrics, recent_calls));
  const absl::Status taken = sidecar->Take(std::move(snapshot), access_log, [](const auto&) {});
  if (!taken.ok()) return taken;
  for (const int signal : {net::kTerminateSignal, net::kInterruptSignal}) {
    sidecar->workers_[0]->loop().OnSignal(signal,
                                          [sidecar = sidecar.get()] { sidecar->OnStopSignal(); });
  }
  sidecar->ready_ = true;
  return sidecar;
}

Sidecar::Sidecar(std::shared_ptr<const Snapshot> snapshot, int workers, Metrics& metrics,
                 RecentCalls& recent_calls)
    : snapshot_(std::move(snapshot)),
      budgets_(workers, snapshot_->limits.destinations),
      replay_(snapshot_->limits.replay_bytes),
      shared_{metrics, budgets_, rate_limits_, replay_, recent_calls},
      workers_(MakeWorkers(workers)),
      listeners_(
          workers_[0]->loop(), workers_[0]->wheel(),
          [this](int fd, ConnectionOrigin origin) { Accepted(fd, std::move(origin)); },
          [this] {
            TurnedAway(Limit::kDescriptors,
                       "the process has no file descriptor left; raise its limit (RLIMIT_NOFILE)");
          }) {}

std::vector<std::unique_ptr<Worker>> Sidecar::MakeWorkers(int count) {
  std::vector<std::unique_ptr<Worker>> workers;
  for (int i = 0; i < count; ++i) {
    workers.push_back(std::make_unique<Worker>(i, snapshot_, shared_));
  }
  return workers;
}

Sidecar::~Sidecar() {
  listeners_.Close();
  Timer::Unlink();
}

// The budgets and limits of the configuration exist from the start, so that their metrics do, and
// no worker's forgetting them loses what they know.
void Sidecar::HoldConfigured() {
  std::vector<std::shared_ptr<RetryBudget>> budgets;
  for (const Route& route : snapshot_->routes.routes()) {
    const UpstreamSpec& upstream = snapshot_->upstreams[static_cast<size_t>(route.upstream)];
    const CallPolicy& policy = snapshot_->policies[static_cast<size_t>(route.policy)];
    budgets.push_back(
        budgets_.Get(upstream.name, "", policy.retry.budget, net::ReadClock()).budget);
  }
  std::vector<std::shared_ptr<RateLimiter>> limits;
  for (const CallPolicy& policy : snapshot_->policies) {
    for (const RateLimitPolicy& limit : policy.rate_limits) {
      limits.push_back(rate_limits_.Get(policy.name, limit));
      shared_.metrics.RateLimit(/*worker=*/0, policy.name, limit.name);
    }
  }
  // Those that are in both are never without a holder.
  configured_budgets_ = std::move(budgets);
  configured_limits_ = std::move(limits);
}

absl::Status Sidecar::Take(std::shared_ptr<const Snapshot> snapshot, net::LineWriter* access_log,
                           Reloaded taken) {
  // The only step that can fail is the first one.
  auto closed = listeners_.Replace(snapshot->listeners);
  if (!closed.ok()) return closed.status();
  snapshot_ = std::move(snapshot);
  budgets_.SetMaxAuthorities(snapshot_->limits.destinations);
  replay_.Resize(snapshot_->limits.replay_bytes);
  HoldConfigured();
  WorkerConfig config{.snapshot = snapshot_,
                      .access_log = access_log,
                      .own_listeners = {},
                      .closed_sockets = *std::move(closed)};
  const std::vector<ListenerSet::Bound> bound = listeners_.bound();
  for (const ListenerSet::Bound& listener : bound) {
    config.own_listeners.push_back(listener.address);
  }
  const auto left = std::make_shared<std::atomic<size_t>>(workers_.size());
  for (const auto& worker : workers_) {
    worker->PostConfig(config, [left, bound, taken] {
      if (--*left == 0) taken(bound);
    });
  }
  return absl::OkStatus();
}

void Sidecar::PostReload(std::shared_ptr<const Snapshot> snapshot, net::LineWriter* access_log,
                         Reloaded done) {
  workers_[0]->loop().Post(
      [this, snapshot = std::move(snapshot), access_log, done = std::move(done)]() mutable {
        const absl::Status taken = phase_ == Phase::kServing
                                       ? Take(std::move(snapshot), access_log, done)
                                       : absl::FailedPreconditionError("the sidecar is draining");
        if (!taken.ok()) done(taken);
      });
}

void Sidecar::Accepted(int fd, ConnectionOrigin origin) {
  last_busy_ = workers_[0]->loop().now();
  const int limit = snapshot_->limits.connections;
  if (open_connections() >= static_cast<uint64_t>(limit)) {
    TurnedAway(Limit::kConnections,
               absl::StrCat("there are as many as limits.connections allows, ", limit));
    net::CloseDescriptor(fd);
    return;
  }
  ++accepted_;
  workers_[next_worker_]->PostConnection(fd, std::move(origin));
  next_worker_ = (next_worker_ + 1) % workers_.size();
}

// A caller's connection. Attackers must not be able to fill the log.
void Sidecar::TurnedAway(Limit limit, const std::string& why) {
  shared_.metrics.Worker(0).limit_hits[limit].Add();
  const Instant now = workers_[0]->loop().now();
  const auto [last, first] = warned_at_.try_emplace(limit, now);
  if (!warn_ || (!first && now - last->second < kBetweenWarnings)) return;
  last->second = now;
  warn_("connections of callers are turned away: " + why);
}

uint64_t Sidecar::open_connections() const {
  uint64_t open = accepted_;
  for (const auto& worker : workers_) open -= worker->connections_ended();
  return open;
}

void Sidecar::Run() {
  net::EventLoop& loop = workers_[0]->loop();
  std::vector<std::thread> threads;
  for (size_t i = 1; i < workers_.size(); ++i) {
    threads.emplace_back([worker = workers_[i].get()] { worker->loop().Run(); });
  }
  loop.Run();
  for (std::thread& thread : threads) thread.join();
  ended_ = true;
}

void Sidecar::OnStopSignal() {
  // Of a drain that was asked for, the first signal is what usually follows.
  if (std::exchange(signalled_, true)) {
    StopAll();
  } else if (phase_ == Phase::kServing) {
    draining_ = true;
    BeginDrain();
  }
}

bool Sidecar::Drain() {
  if (draining_.exchange(true)) return false;
  workers_[0]->loop().Post([this] {
    if (phase_ == Phase::kServing) BeginDrain();
  });
  return true;
}

void Sidecar::BeginDrain() {
  ready_ = false;
  phase_ = Phase::kDraining;
  const Instant now = workers_[0]->loop().now();
  last_busy_ = now;
  drain_deadline_ = now + snapshot_->drain_timeout;
  workers_[0]->wheel().Arm(*this, now + kDrainCheck);
}

void Sidecar::OnTimer(Instant now) {
  CheckDrain(now);
  if (phase_ != Phase::kStopped) workers_[0]->wheel().Arm(*this, now + kDrainCheck);
}

void Sidecar::CheckDrain(Instant now) {
  const int64_t active = active_calls() + open_streams();
  // Most calls begin and end between two looks. What a tunnel carries is not known, so bytes stand
  // for calls.
  const uint64_t begun = calls_begun();
  const uint64_t tunnelled = tunnelled_bytes();
  const bool called = std::exchange(calls_begun_, begun) != begun;
  const bool carried = std::exchange(tunnelled_, tunnelled) != tunnelled;
  if (active > 0 || called || carried) last_busy_ = now;
  if (phase_ == Phase::kDraining && (now - last_busy_ >= kQuiet || now >= drain_deadline_)) {
    phase_ = Phase::kGoaway;
    goaway_until_ = now + kGoawayTime;
    for (const auto& worker : workers_) worker->PostGoaway();
    return;
  }
  const bool done = active == 0 || now >= drain_deadline_;
  if (phase_ == Phase::kGoaway && now >= goaway_until_ && done) StopAll();
}

void Sidecar::StopAll() {
  if (std::exchange(phase_, Phase::kStopped) == Phase::kStopped) return;
  listeners_.Close();
  for (const auto& worker : workers_) worker->PostStop();
}

int64_t Sidecar::active_calls() const {
  int64_t total = 0;
  for (const auto& worker : workers_) total += worker->active_calls();
  return total;
}

uint64_t Sidecar::calls_begun() const {
  uint64_t total = 0;
  for (const auto& worker : workers_) total += worker->calls_begun();
  return total;
}

uint64_t Sidecar::tunnelled_bytes() const {
  uint64_t total = 0;
  for (const auto& worker : workers_) total += worker->tunnelled_bytes();
  return total;
}

int64_t Sidecar::open_streams() {
  int64_t total = 0;
  for (const auto& worker : workers_) {
    total += worker->open_streams();
    worker->PostCountStreams();  // For the next look.
  }
  return total;
}

std::vector<EndpointView> Sidecar::endpoints() const {
  // Outlives this call if a worker answers too late.
  struct Answers {
    std::mutex mutex;
    std::condition_variable changed;
    size_t missing;
    std::vector<EndpointView> views;
  };
  const auto answers = std::make_shared<Answers>();
  answers->missing = workers_.size();
  for (const auto& worker : workers_) {
    worker->PostView([answers](std::vector<EndpointView> views) {
      const std::lock_guard lock(answers->mutex);
      std::move(views.begin(), views.end(), std::back_inserter(answers->views));
      if (--answers->missing == 0) answers->changed.notify_one();
    });
  }
  std::unique_lock lock(answers->mutex);
  const Instant give_up = net::ReadClock() + kPatience;
  while (answers->missing > 0 && !ended_ && net::ReadClock() < give_up) {
    answers->changed.wait_for(lock, kLookAgain);
  }
  return std::move(answers->views);
}

int64_t Sidecar::replay_bytes() const {
  int64_t total = 0;
  for (const auto& worker : workers_) total += worker->replay_bytes();
  return total;
}

}  // namespace levee
