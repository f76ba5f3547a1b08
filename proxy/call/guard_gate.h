// SPDX-License-Identifier: Apache-2.0
// How a call passes the guard of its service, and leaves it.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "absl/time/time.h"
#include "base/check.h"
#include "base/instant.h"
#include "call/call_books.h"
#include "guard/guard.h"
#include "guard/guard_line.h"

namespace levee {

class Call;

// Of a call to the application. CallPlanParts::guard may be null: then nothing waits here, and
// Enter is not called. One thread.
class GuardGate final : private GuardClient {
 public:
  // Both outlive it. `call`: starts its first attempt, or ends, when it is told to.
  GuardGate(CallBooks& books, Call& call) : books_(books), call_(call) {}
  GuardGate(const GuardGate&) = delete;
  GuardGate& operator=(const GuardGate&) = delete;

  // The call comes to the guard, or is due(): it starts, waits or ends.
  void Enter(Instant now);
  Instant due() const { return due_; }

  // Whether the call comes to the guard once its request does.
  bool awaits_work() const { return stage_ == Stage::kAwaitsWork; }

  // Whether it waits for a slot, or has borrowed one.
  bool has_place() const { return place_ != nullptr; }

  // A piece of the request has come.
  void OnRequest() {
    if (stage_ == Stage::kOnLoan && books_.HasWork()) KeepLoan();
  }

  // The service has sent a message: it works on the call, whatever its request is.
  void OnAnswer() {
    if (stage_ == Stage::kOnLoan) KeepLoan();
  }

  // A message of the answer has come, and nobody knows whether it is all.
  void OnPause(Instant now);

  // The call has turned out to be a stream.
  void OnStream(Instant now);

  // The service took so long, for the guard to judge it by.
  void OnServed(const ServiceTime& time) { served_in_ = time; }

  // The call has ended, or needs no slot any more. One that awaits its request still comes.
  void Leave(Instant now);

 private:
  enum class Stage : uint8_t {
    kOutside,     // it has not come, needs no slot, or has left
    kAwaitsWork,  // for its request, before it may take a slot from others
    kWaits,       // place_ is in the queue
    kOnLoan,      // place_ has a slot that no other call needs
    kHasSlot,
  };

  // As which kind of slots the guard counts that of kHasSlot besides.
  enum class Counted : uint8_t { kPlain, kOfNewMethod, kOfStream };

  bool TakesNoSlot() const;
  bool KeepsStreams() const;
  bool NeedsWork() const;
  bool observes() const { return books_.plan.guard->guard().policy().observe; }
  bool Pass(Instant now);
  void Borrow(Instant now);
  void KeepLoan();
  void TakeSlot();
  void CountSlot();
  void SetCounted(Counted counted);
  void OnSlot(Instant now) override;
  void OnGuardRefused(const GuardRefusal& refusal, Instant now) override;
  void NoteArrival();
  void NoteRefusal(const GuardRefusal& refusal);
  std::string WhyRefused(GuardReason reason, int limit) const;
  void EndRefused(const GuardRefusal& refusal, Instant now);
  // In the header, so that it costs nothing where nothing is checked.
  void CheckState() const {
    LEVEE_DCHECK((stage_ == Stage::kWaits || stage_ == Stage::kOnLoan) == (place_ != nullptr));
    LEVEE_DCHECK(awaits_work() == !due_.is_infinite());
    LEVEE_DCHECK(stage_ == Stage::kHasSlot || counted_ == Counted::kPlain);
  }

  CallBooks& books_;
  Call& call_;
  std::unique_ptr<GuardPlace> place_;  // of kWaits and kOnLoan
  Instant since_;                      // it waits since then
  Instant due_ = Instant::Infinite();  // of kAwaitsWork
  std::optional<ServiceTime> served_in_;
  Stage stage_ = Stage::kOutside;
  Counted counted_ = Counted::kPlain;
};

}  // namespace levee
