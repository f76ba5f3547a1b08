// The running sidecar: listeners, workers, and their orderly end.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/statusor.h"
#include "base/timer_wheel.h"
#include "call/replay_memory.h"
#include "config/snapshot.h"
#include "net/line_writer.h"
#include "server/budget_table.h"
#include "server/worker.h"
#include "sidecar/listener_set.h"
#include "telemetry/metrics.h"

namespace levee {

// Worker 0 runs in the thread that calls Run, and accepts for all; connections are dealt
// round-robin. Created, run and destroyed by one thread, "its thread" below.
class Sidecar : private Timer {
 public:
  // Binds every listener of the snapshot, so that a busy port is an error here that names the port
  // and the field to change. `workers`: 1 or more. `access_log`: nullptr if there is none; outlives
  // the sidecar, or the reload after which it is not in use.
  static absl::StatusOr<std::unique_ptr<Sidecar>> Open(std::shared_ptr<const Snapshot> snapshot,
                                                       int workers, Metrics& metrics,
                                                       RecentCalls& recent_calls,
                                                       net::LineWriter* access_log);
  ~Sidecar() override;

  // That of its thread.
  net::EventLoop& loop() { return workers_[0]->loop(); }

  // `warn`: told in its thread what operators should know, at most once a minute of each kind. Its
  // thread, before Run.
  void OnWarning(std::function<void(const std::string&)> warn) { warn_ = std::move(warn); }

  // Its thread, before Run.
  std::vector<ListenerSet::Bound> listeners() const { return listeners_.bound(); }

  // Serves until SIGTERM or SIGINT has led to an orderly end (drain), or a second one has ended it
  // at once.
  void Run();

  // Takes over another configuration: all of it, or nothing if a listener cannot be opened or the
  // drain has begun. Listeners, connections, budgets and limits that are in it as before go on;
  // calls that are under way end by the configuration they began with; connections of listeners
  // that are gone are told to go. `done` is called in some worker's thread, once no worker uses the
  // access log before, with the listeners that there are now. Any thread; not again before `done`.
  using Reloaded = std::function<void(absl::StatusOr<std::vector<ListenerSet::Bound>>)>;
  void PostReload(std::shared_ptr<const Snapshot> snapshot, net::LineWriter* access_log,
                  Reloaded done);

  // Begins the drain, as SIGTERM does; the first signal after it changes nothing. False if it had
  // begun before. Any thread.
  bool Drain();
  bool draining() const { return draining_.load(std::memory_order_relaxed); }

  // From the moment the listeners are bound to the start of the drain: what /readyz says. Any
  // thread.
  bool ready() const { return ready_.load(std::memory_order_relaxed); }

  // Any thread.
  int64_t replay_bytes() const;
  std::vector<Metrics::BudgetGauges> budgets() const { return budgets_.Read(net::ReadClock()); }

  // Asks every worker; what has come by then after a second, or when Run ends. Any thread but a
  // worker's.
  std::vector<EndpointView> endpoints() const;

 private:
  Sidecar(std::shared_ptr<const Snapshot> snapshot, int workers, Metrics& metrics,
          RecentCalls& recent_calls);

  std::vector<std::unique_ptr<Worker>> MakeWorkers(int count);
  void HoldConfigured();
  absl::Status Take(std::shared_ptr<const Snapshot> snapshot, net::LineWriter* access_log,
                    Reloaded taken);
  void Accepted(int fd, ConnectionOrigin origin);
  void TurnedAway(Limit limit, const std::string& why);
  void OnStopSignal();
  void BeginDrain();
  void OnTimer(Instant now) override;
  void CheckDrain(Instant now);
  void StopAll();
  uint64_t open_connections() const;
  int64_t active_calls() const;
  uint64_t calls_begun() const;
  uint64_t tunnelled_bytes() const;
  int64_t open_streams();

  enum class Phase { kServing, kDraining, kGoaway, kStopped };

  std::shared_ptr<const Snapshot> snapshot_;
  BudgetTable budgets_;
  std::vector<std::shared_ptr<RetryBudget>> configured_budgets_;
  RateLimitTable rate_limits_;
  std::vector<std::shared_ptr<RateLimiter>> configured_limits_;
  ReplayMemory replay_;
  Shared shared_;
  std::vector<std::unique_ptr<Worker>> workers_;
  ListenerSet listeners_;
  size_t next_worker_ = 0;
  uint64_t accepted_ = 0;  // connections since the start, without those turned away
  std::function<void(const std::string&)> warn_;
  std::map<Limit, Instant> warned_at_;
  std::atomic<bool> ready_ = false;
  std::atomic<bool> draining_ = false;
  std::atomic<bool> ended_ = false;  // no loop runs any more

  Phase phase_ = Phase::kServing;
  bool signalled_ = false;
  Instant drain_deadline_;
  Instant last_busy_;  // the last moment with an active call or a new connection
  Instant goaway_until_;
  uint64_t calls_begun_ = 0;  // as of the last look
  uint64_t tunnelled_ = 0;    // bytes, likewise
};

}  // namespace levee
