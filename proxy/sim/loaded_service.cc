// SPDX-License-Identifier: Apache-2.0
#include "sim/loaded_service.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "sim/answer.h"

namespace levee {

Service LoadedService::Method(absl::Duration work) {
  return Methods([work](const SimHost&) { return work; });
}

Service LoadedService::Methods(std::function<absl::Duration(const SimHost& host)> work,
                               std::function<StatusCode(const SimHost& host)> code) {
  return [this, work = std::move(work), code = std::move(code)](SimHost& host, AttemptId attempt) {
    Begin({SimHost::Ref(host), attempt, work(host), code ? code(host) : StatusCode::kOk});
    return Silence();
  };
}

void LoadedService::Begin(Piece piece) {
  if (kind_ == WorkKind::kExponential) piece.left *= -std::log1p(-random_.Uniform());
  if (kind_ == WorkKind::kCpu) {
    Advance();
    shared_.push_back(piece);
    Arm();
  } else {
    waiting_.push_back(piece);
    BeginNext();
  }
}

void LoadedService::BeginNext() {
  while (working_ < slots_ && !waiting_.empty()) {
    ++working_;
    clock_.After(waiting_.front().left, [this, piece = waiting_.front()] {
      --working_;
      Answer(piece);
      BeginNext();
    });
    waiting_.pop_front();
  }
}

void LoadedService::SetSlots(int slots) {
  Advance();
  slots_ = slots;
  BeginNext();
  Arm();
}

// Does the work that was done since the last time: the processors are shared evenly.
void LoadedService::Advance() {
  const absl::Duration passed = clock_.elapsed() - std::exchange(advanced_, clock_.elapsed());
  if (shared_.empty()) return;
  const double share = std::min(1.0, slots_ / static_cast<double>(shared_.size()));
  for (Piece& piece : shared_) piece.left -= share * passed;
}

void LoadedService::Arm() {
  const int64_t number = ++armed_;
  if (shared_.empty()) return;
  const auto first =
      std::min_element(shared_.begin(), shared_.end(),
                       [](const Piece& a, const Piece& b) { return a.left < b.left; });
  const double share = std::min(1.0, slots_ / static_cast<double>(shared_.size()));
  // A nanosecond more, since durations are rounded.
  const absl::Duration left = std::max(first->left, absl::ZeroDuration()) / share;
  clock_.After(left + absl::Nanoseconds(1), [this, number] {
    if (number == armed_) EndDone();
  });
}

void LoadedService::EndDone() {
  Advance();
  std::list<Piece> done;
  for (auto piece = shared_.begin(); piece != shared_.end();) {
    const auto next = std::next(piece);
    if (piece->left <= absl::Nanoseconds(10)) done.splice(done.end(), shared_, piece);
    piece = next;
  }
  Arm();
  for (const Piece& piece : done) Answer(piece);
}

void LoadedService::Answer(const Piece& piece) {
  SimHost* const host = piece.host.get();
  if (host == nullptr) return;
  const levee::Answer answer = levee::Answer().Trailers(absl::ZeroDuration(), piece.code);
  host->Deliver(piece.attempt, answer.steps().front());
}

}  // namespace levee
