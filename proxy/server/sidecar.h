// The running sidecar: listeners, workers, and their orderly end.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/statusor.h"
#include "base/timer_wheel.h"
#include "call/replay_memory.h"
#include "config/snapshot.h"
#include "net/line_writer.h"
#include "net/listener.h"
#include "server/budget_table.h"
#include "server/worker.h"
#include "telemetry/metrics.h"

namespace levee {

// Worker 0 runs in the thread that calls Run, and accepts for all; connections are dealt
// round-robin. Created, run and destroyed by one thread.
class Sidecar : private Timer {
 public:
  // Binds every listener of the snapshot, so that a busy port is an error here that names the port
  // and the field to change. `workers`: 1 or more. `access_log`: nullptr if there is none; outlives
  // the sidecar.
  static absl::StatusOr<std::unique_ptr<Sidecar>> Open(std::shared_ptr<const Snapshot> snapshot,
                                                       int workers, Metrics& metrics,
                                                       net::LineWriter* access_log);
  ~Sidecar() override;

  struct BoundListener {
    std::string name;
    net::Address address;  // with the port that was really bound
  };
  std::vector<BoundListener> listeners() const;

  // Serves until SIGTERM or SIGINT has led to an orderly end (drain), or a second one has ended it
  // at once.
  void Run();

  // From the moment the listeners are bound to the start of the drain: what /readyz says. Any
  // thread.
  bool ready() const { return ready_.load(std::memory_order_relaxed); }

  // Any thread.
  int64_t replay_bytes() const;
  std::vector<Metrics::BudgetGauges> budgets() const { return budgets_.Read(net::ReadClock()); }

 private:
  Sidecar(std::shared_ptr<const Snapshot> snapshot, int workers, Metrics& metrics,
          net::LineWriter* access_log);

  absl::Status Bind();
  void Accepted(int fd, const std::shared_ptr<const ListenerSpec>& listener);
  void OnStopSignal();
  void OnTimer(Instant now) override;
  void CheckDrain(Instant now);
  void StopAll();
  int64_t active_calls() const;
  uint64_t calls_begun() const;
  uint64_t tunnelled_bytes() const;
  int64_t open_streams();

  enum class Phase { kServing, kDraining, kGoaway, kStopped };

  const std::shared_ptr<const Snapshot> snapshot_;
  BudgetTable budgets_;
  std::vector<std::shared_ptr<RetryBudget>> configured_budgets_;
  RateLimitTable rate_limits_;
  std::vector<std::shared_ptr<RateLimiter>> configured_limits_;
  ReplayMemory replay_;
  Shared shared_;
  std::vector<std::unique_ptr<Worker>> workers_;
  struct Listening {
    std::string name;
    std::unique_ptr<net::Listener> listener;
  };
  std::vector<Listening> listeners_;
  size_t next_worker_ = 0;
  std::atomic<bool> ready_ = false;

  Phase phase_ = Phase::kServing;
  Instant drain_deadline_;
  Instant last_busy_;  // the last moment with an active call or a new connection
  Instant goaway_until_;
  uint64_t calls_begun_ = 0;  // as of the last look
  uint64_t tunnelled_ = 0;    // bytes, likewise
};

}  // namespace levee
