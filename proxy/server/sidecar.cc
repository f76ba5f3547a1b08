#include "server/sidecar.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "net/terminal.h"

namespace levee {
namespace {

// Listeners keep accepting until this long has passed without a call or a connection.
constexpr absl::Duration kQuiet = absl::Seconds(1);
constexpr absl::Duration kDrainCheck = absl::Milliseconds(20);

// Between the announcement and the end, so that a caller's last request, sent before it saw the
// announcement, is still served.
constexpr absl::Duration kGoawayTime = absl::Milliseconds(200);

}  // namespace

absl::StatusOr<std::unique_ptr<Sidecar>> Sidecar::Open(std::shared_ptr<const Snapshot> snapshot,
                                                       int workers, Metrics& metrics,
                                                       net::LineWriter* access_log) {
  std::unique_ptr<Sidecar> sidecar(new Sidecar(std::move(snapshot), workers, metrics, access_log));
  if (absl::Status status = sidecar->Bind(); !status.ok()) return status;
  for (const int signal : {net::kTerminateSignal, net::kInterruptSignal}) {
    sidecar->workers_[0]->loop().OnSignal(signal,
                                          [sidecar = sidecar.get()] { sidecar->OnStopSignal(); });
  }
  sidecar->ready_ = true;
  return sidecar;
}

Sidecar::Sidecar(std::shared_ptr<const Snapshot> snapshot, int workers, Metrics& metrics,
                 net::LineWriter* access_log)
    : snapshot_(std::move(snapshot)),
      budgets_(workers, snapshot_->limits.destinations),
      replay_(snapshot_->limits.replay_bytes),
      shared_{metrics, budgets_, rate_limits_, replay_, access_log, {}} {
  // Every route's budget exists from the start, so that its gauges do.
  for (const Route& route : snapshot_->routes.routes()) {
    const size_t upstream = static_cast<size_t>(route.upstream);
    const size_t policy = static_cast<size_t>(route.policy);
    const BudgetTable::Account account =
        budgets_.Get(snapshot_->upstreams[upstream].name, "",
                     snapshot_->policies[policy].retry.budget, net::ReadClock());
    configured_budgets_.push_back(account.budget);
  }
  for (const CallPolicy& policy : snapshot_->policies) {
    for (const RateLimitPolicy& limit : policy.rate_limits) {
      // Held here, so that a full plan cache that starts anew forgets no bucket.
      configured_limits_.push_back(rate_limits_.Get(policy.name, limit));
      metrics.RateLimit(/*worker=*/0, policy.name, limit.name);
    }
  }
  for (int i = 0; i < workers; ++i) {
    workers_.push_back(std::make_unique<Worker>(i, snapshot_, shared_));
  }
}

Sidecar::~Sidecar() {
  listeners_.clear();
  Timer::Unlink();
}

absl::Status Sidecar::Bind() {
  for (const ListenerSpec& spec : snapshot_->listeners) {
    const auto address = spec.address.path.empty()
                             ? net::Address::FromIp(spec.address.host, spec.address.port)
                             : net::Address::FromUnixPath(spec.address.path);
    LEVEE_CHECK(address.has_value());  // The configuration was checked.
    // Owned by the snapshot, for as long as a connection remembers where it came in.
    const std::shared_ptr<const ListenerSpec> shared(snapshot_, &spec);
    auto listener = net::Listener::Open(
        workers_[0]->loop(), *address, [this, shared](int fd) { Accepted(fd, shared); },
        static_cast<mode_t>(spec.mode));
    if (!listener.ok()) {
      return absl::FailedPreconditionError(
          absl::StrCat(listener.status().message(), " (set at ", spec.address.position, ")"));
    }
    shared_.own_listeners.push_back((*listener)->address());
    listeners_.push_back({spec.name, *std::move(listener)});
  }
  return absl::OkStatus();
}

std::vector<Sidecar::BoundListener> Sidecar::listeners() const {
  std::vector<BoundListener> bound;
  for (const Listening& entry : listeners_)
    bound.push_back({entry.name, entry.listener->address()});
  return bound;
}

void Sidecar::Accepted(int fd, const std::shared_ptr<const ListenerSpec>& listener) {
  last_busy_ = workers_[0]->loop().now();
  workers_[next_worker_]->PostConnection(fd, listener);
  next_worker_ = (next_worker_ + 1) % workers_.size();
}

void Sidecar::Run() {
  net::EventLoop& loop = workers_[0]->loop();
  std::vector<std::thread> threads;
  for (size_t i = 1; i < workers_.size(); ++i) {
    threads.emplace_back([worker = workers_[i].get()] { worker->loop().Run(); });
  }
  loop.Run();
  for (std::thread& thread : threads) thread.join();
}

void Sidecar::OnStopSignal() {
  if (phase_ != Phase::kServing) {
    StopAll();
    return;
  }
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
  listeners_.clear();
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

int64_t Sidecar::replay_bytes() const {
  int64_t total = 0;
  for (const auto& worker : workers_) total += worker->replay_bytes();
  return total;
}

}  // namespace levee
