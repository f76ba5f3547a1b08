// SPDX-License-Identifier: Apache-2.0
// One instance of a scenario's service on virtual time: its slots, its queue, and what goes wrong.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/random.h"
#include "lab/scenario.h"
#include "sim/app_loop.h"
#include "sim/sim_clock.h"
#include "sim/sim_sidecar.h"

namespace levee {

// One of the calls that an instance makes for each call: through this sidecar, by this loop.
struct FurtherCall {
  SimSidecar* sidecar;
  AppLoop loop;
};

// The clock's events refer to it.
class ServiceInstance {
 public:
  ServiceInstance(SimClock& clock, const ScenarioService& service, uint64_t seed)
      : clock_(clock), service_(service), random_(seed) {}
  ServiceInstance(const ServiceInstance&) = delete;
  ServiceInstance& operator=(const ServiceInstance&) = delete;

  void AddCall(FurtherCall call) { calls_.push_back(std::move(call)); }

  // The faults that it has from now on. One that restarts it ends what it does.
  void SetFaults(std::vector<const ScenarioFault*> faults);

  // Calls that wait for a slot, and whose callers wait for them if others are dropped.
  int64_t waiting() const { return waiting_; }

  // Returns whether it has no process now.
  bool down() const { return down_; }

  // Returns what happens to a connection to the instance, if it does not reach it now.
  std::optional<Answer> Unreachable() const;

  // As a Service of SimEndpoints, where it can be reached.
  Answer Serve(SimHost& host, AttemptId attempt);

 private:
  struct Piece {
    Piece(SimHost& of, AttemptId id) : host(of), attempt(id) {}

    SimHost::Ref host;
    const AttemptId attempt;
    absl::Duration left;   // of the instance's own work
    absl::Duration since;  // when `left` was true
    absl::Duration deadline;
    absl::Duration limit;  // when the work must have ended
    enum class State { kWaiting, kWorking, kCalling, kEnded };
    State state = State::kWaiting;
    bool abandoned = false;
    int64_t armed = 0;  // the number of the event that ends the work
    size_t place = 0;   // in taken_
    size_t calls_made = 0;
    std::shared_ptr<AppRequest> call;  // under way
    Answer answer;                     // on its way
  };
  using PiecePtr = std::shared_ptr<Piece>;

  absl::Duration DrawTime();
  const ScenarioFault* DrawFailure(bool after_work);
  void OnWorked(const PiecePtr& piece);
  bool HasNoSlot() const { return taken_.size() == static_cast<size_t>(service_.slots); }
  void BeginNext();
  void Begin(const PiecePtr& piece);
  void Arm(const PiecePtr& piece);
  void LeaveSlot(Piece& piece);
  void Die();
  void CallNext(const PiecePtr& piece);
  void OnCallEnded(const PiecePtr& piece, const SimCaller& caller);
  void OnAbandoned(const PiecePtr& piece);
  void End(const PiecePtr& piece, StatusCode code, const std::string& message);
  void Deliver(const PiecePtr& piece, Answer answer);

  SimClock& clock_;
  const ScenarioService& service_;
  Random random_;
  std::vector<FurtherCall> calls_;
  std::vector<const ScenarioFault*> faults_;
  double speed_ = 1;
  absl::Duration delay_;  // of answers
  // Copies share what it holds, and it is most of the answers.
  const Answer ok_ = Answer().Trailers(absl::ZeroDuration(), StatusCode::kOk);
  std::deque<PiecePtr> queue_;   // also pieces that are abandoned
  int64_t waiting_ = 0;          // of queue_, the ones that are not
  std::vector<PiecePtr> taken_;  // those that have a slot
  bool down_ = false;
};

}  // namespace levee
