// SPDX-License-Identifier: Apache-2.0
// A whole worker on virtual time: its real loop, sockets and sessions, turned by the fuzzer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

#include "absl/time/time.h"
#include "virtual/virtual_worker.h"

namespace levee {

// Starts anew for each input. Its one upstream is a Unix socket that the fuzzer listens on.
class WorkerRun {
 public:
  // The promises to calls under each of the configurations to choose from.
  static constexpr size_t kShapes = 5;
  static constexpr int kMaxAttempts = 3;
  static constexpr absl::Duration kTimeout = absl::Seconds(5);

  // `shape`: below kShapes.
  explicit WorkerRun(size_t shape);

  // Stops the worker.
  ~WorkerRun();
  WorkerRun(const WorkerRun&) = delete;
  WorkerRun& operator=(const WorkerRun&) = delete;

  // The caller's end of a new connection; the descriptor is the taker's.
  int Connect();

  // The upstream's end of a connection that the worker has opened; -1: there is none.
  int Accept();

  // One turn of the worker's loop.
  void Turn();

  // How much all turns together have done (work_count.h).
  uint64_t work() const { return work_; }

  // Turns, with `pump` for the other ends before each, until neither has anything to do. `pump`
  // says whether something moved.
  void Settle(const std::function<bool()>& pump);

  // Time passes; what is due is done in the next turn.
  static void Advance(absl::Duration span);

  void AnnounceShutdown() {
    virtual_->worker().PostGoaway(Direction::kInbound);
    virtual_->worker().PostGoaway(Direction::kEgress);
  }

  // With no caller left, the worker holds nothing for anybody.
  void CheckNothingLeft();

 private:
  std::unique_ptr<VirtualWorker> virtual_;
  uint64_t connections_ = 0;  // that it was given
  uint64_t work_ = 0;
};

}  // namespace levee
