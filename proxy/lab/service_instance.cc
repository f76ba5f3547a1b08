// SPDX-License-Identifier: Apache-2.0
#include "lab/service_instance.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "base/block_cache.h"

namespace levee {
namespace {

constexpr char kFault[] = "fault of the scenario";

}  // namespace

void ServiceInstance::SetFaults(std::vector<const ScenarioFault*> faults) {
  for (const PiecePtr& piece : taken_) {
    if (piece->state != Piece::State::kWorking) continue;
    piece->left -= speed_ * (clock_.elapsed() - std::exchange(piece->since, clock_.elapsed()));
  }
  faults_ = std::move(faults);
  speed_ = 1;
  delay_ = absl::ZeroDuration();
  bool down = false;
  for (const ScenarioFault* fault : faults_) {
    speed_ *= fault->capacity;
    delay_ += fault->delay;
    down = down || fault->restart;
  }
  if (down && !down_) Die();
  down_ = down;
  for (const PiecePtr& piece : taken_) {
    if (piece->state == Piece::State::kWorking) Arm(piece);
  }
}

// A caller that waits for the instance loses its connection.
void ServiceInstance::Die() {
  std::vector<PiecePtr> lost = std::exchange(taken_, {});
  lost.insert(lost.end(), queue_.begin(), queue_.end());
  queue_.clear();
  waiting_ = 0;
  for (const PiecePtr& piece : lost) {
    piece->state = Piece::State::kEnded;
    if (piece->call != nullptr) std::exchange(piece->call, nullptr)->Cancel();
    Deliver(piece, Answer().ConnectionLost(absl::ZeroDuration()));
  }
}

absl::Duration ServiceInstance::DrawTime() {
  const WorkTime& time = service_.time;
  switch (time.kind) {
    case WorkTime::Kind::kFixed:
      return time.scale;
    case WorkTime::Kind::kExponential:
      return time.scale * -std::log1p(-random_.Uniform());
    case WorkTime::Kind::kLognormal: {
      // Box and Muller's method.
      const double radius = std::sqrt(-2 * std::log1p(-random_.Uniform()));
      const double normal = radius * std::cos(2 * std::numbers::pi * random_.Uniform());
      return time.scale * std::exp(time.sigma * normal);
    }
  }
  return time.scale;
}

// Returns the fault by which a call fails now; nullptr: by none.
const ScenarioFault* ServiceInstance::DrawFailure(bool after_work) {
  for (const ScenarioFault* fault : faults_) {
    if (fault->fail_share == 0 || fault->fails_after_work != after_work) continue;
    if (random_.Uniform() < fault->fail_share) return fault;
  }
  return nullptr;
}

std::optional<Answer> ServiceInstance::Unreachable() const {
  for (const ScenarioFault* fault : faults_) {
    if (fault->refuse || fault->restart) return Answer().CannotConnect(absl::ZeroDuration());
    if (fault->blackhole) return Silence();
  }
  return std::nullopt;
}

Answer ServiceInstance::Serve(SimHost& host, AttemptId attempt) {
  // A guard before it may let a call through that came earlier.
  if (down_) return Answer().CannotConnect(absl::ZeroDuration());
  if (const ScenarioFault* const fault = DrawFailure(/*after_work=*/false)) {
    return Answer().Trailers(delay_, fault->fail_code, kFault);
  }
  const bool waits = HasNoSlot();
  if (waits && waiting_ >= service_.queue) {
    return Answer().Trailers(delay_, StatusCode::kUnavailable, "the queue is full");
  }
  const auto piece = std::allocate_shared<Piece>(BlockAllocator<Piece>(), host, attempt);
  piece->left = DrawTime();
  piece->deadline = clock_.elapsed() + host.attempt(attempt).timeout;
  piece->limit = clock_.elapsed() + service_.time_limit;
  if (service_.drops_abandoned || !calls_.empty()) {
    host.OnCancel(attempt, [this, piece] { OnAbandoned(piece); });
  }
  if (waits) {
    ++waiting_;
    queue_.push_back(piece);
  } else {
    Begin(piece);
  }
  return Silence();
}

void ServiceInstance::BeginNext() {
  while (!HasNoSlot() && !queue_.empty()) {
    const PiecePtr piece = std::move(queue_.front());
    queue_.pop_front();
    if (piece->abandoned && service_.drops_abandoned) continue;
    --waiting_;
    Begin(piece);
  }
}

void ServiceInstance::Begin(const PiecePtr& piece) {
  if (service_.slope > absl::ZeroDuration()) {
    piece->left += static_cast<double>(taken_.size()) * service_.slope;
  }
  piece->state = Piece::State::kWorking;
  piece->since = clock_.elapsed();
  piece->place = taken_.size();
  taken_.push_back(piece);
  Arm(piece);
}

void ServiceInstance::Arm(const PiecePtr& piece) {
  const int64_t number = ++piece->armed;
  if (speed_ == 0) return;
  absl::Duration left = std::max(piece->left, absl::ZeroDuration());
  if (speed_ != 1) left /= speed_;
  clock_.After(left, [this, piece, number] {
    if (number == piece->armed && piece->state == Piece::State::kWorking) OnWorked(piece);
  });
}

void ServiceInstance::LeaveSlot(Piece& piece) {
  const size_t place = piece.place;
  taken_.back()->place = place;
  std::swap(taken_[place], taken_.back());
  taken_.pop_back();
}

void ServiceInstance::OnWorked(const PiecePtr& piece) {
  if (clock_.elapsed() > piece->limit) {
    End(piece, StatusCode::kUnavailable, "the work took longer than the time limit");
  } else if (const ScenarioFault* const fault = DrawFailure(/*after_work=*/true)) {
    End(piece, fault->fail_code, kFault);
  } else {
    CallNext(piece);
  }
}

// Makes the next call for the piece, whose own work is done; or answers it.
void ServiceInstance::CallNext(const PiecePtr& piece) {
  if (piece->calls_made == calls_.size() || piece->abandoned) {
    End(piece, StatusCode::kOk, "");
    return;
  }
  piece->state = Piece::State::kCalling;
  const size_t number = ++piece->calls_made;
  const FurtherCall& call = calls_[number - 1];
  SimHost* const host = piece->host.get();
  const uint64_t trace = host == nullptr ? 0 : host->origin().trace;
  const auto begun = AppRequest::Begin(
      *call.sidecar, call.loop, piece->deadline - clock_.elapsed(), {.trace = trace}, "request",
      [this, piece](const SimCaller& caller) { OnCallEnded(piece, caller); });
  // It may have ended at once.
  if (piece->state == Piece::State::kCalling && piece->calls_made == number) piece->call = begun;
}

void ServiceInstance::OnCallEnded(const PiecePtr& piece, const SimCaller& caller) {
  piece->call.reset();
  if (caller.code != StatusCode::kOk) {
    End(piece, caller.code, caller.message);
    return;
  }
  // Not within the event of a call that has just ended.
  clock_.After(absl::ZeroDuration(), [this, piece] {
    if (piece->state == Piece::State::kCalling) CallNext(piece);
  });
}

void ServiceInstance::OnAbandoned(const PiecePtr& piece) {
  piece->abandoned = true;
  switch (piece->state) {
    case Piece::State::kWaiting:
      if (service_.drops_abandoned) --waiting_;
      return;
    case Piece::State::kWorking:
      if (!service_.drops_abandoned) return;
      End(piece, StatusCode::kCancelled, "");
      return;
    case Piece::State::kCalling:
      if (piece->call != nullptr) std::exchange(piece->call, nullptr)->Cancel();
      End(piece, StatusCode::kCancelled, "");
      return;
    case Piece::State::kEnded:
      return;
  }
}

// Frees the slot of the piece and answers it.
void ServiceInstance::End(const PiecePtr& piece, StatusCode code, const std::string& message) {
  piece->state = Piece::State::kEnded;
  LeaveSlot(*piece);
  const bool plain = code == StatusCode::kOk && message.empty();
  Deliver(piece, plain ? ok_.After(delay_) : Answer().Trailers(delay_, code, message));
  BeginNext();
}

// Gives the one step of the answer to whom the piece was for, if there still is such a one.
void ServiceInstance::Deliver(const PiecePtr& piece, Answer answer) {
  piece->answer = std::move(answer);
  clock_.After(piece->answer.TimeOf(0), [piece] {
    SimHost* const host = piece->host.get();
    if (host != nullptr) host->Deliver(piece->attempt, piece->answer.steps().front());
  });
}

}  // namespace levee
