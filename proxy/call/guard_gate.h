// SPDX-License-Identifier: Apache-2.0
// How a call passes the guard of its service, and leaves it.
#pragma once

#include <cstdint>
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

// Part of each call, and small for that. CallPlanParts::guard may be null: then nothing waits here,
// and Enter is not called. One thread.
class GuardGate {
 public:
  // Both outlive it. `call`: starts its first attempt, or ends, when it is told to.
  GuardGate(CallBooks& books, Call& call) : books_(books), call_(call) {}
  GuardGate(const GuardGate&) = delete;
  GuardGate& operator=(const GuardGate&) = delete;

  // The call comes to the guard, or is due(): it starts, waits or ends.
  void Enter(Instant now);
  Instant due() const { return awaits_work() ? waiting_->due : Instant::Infinite(); }

  // Whether the call comes to the guard once its request does.
  bool awaits_work() const { return stage_ == Stage::kAwaitsWork; }

  // Whether it waits for a slot, or has borrowed one.
  bool has_place() const { return stage_ == Stage::kWaits || stage_ == Stage::kOnLoan; }

  // A piece of the request has come.
  void OnRequest() {
    if (stage_ == Stage::kOnLoan && books_.HasWork()) KeepLoan();
  }

  // The service has sent a message: it works on the call, whatever its request is.
  void OnAnswer() {
    if (stage_ == Stage::kOnLoan) KeepLoan();
  }

  // A message of the answer has come, and nobody knows whether it is all. A unary call's work is
  // done with its answer. So unless the method's calls were all unary, it need not be waited for
  // what the call is.
  void OnPause(Instant now) {
    if (books_.plan.guard != nullptr && !books_.method.IsUnary() && !KeepsStreams()) Leave(now);
  }

  // The call has turned out to be a stream.
  void OnStream(Instant now);

  // How an attempt of the call ended, for the guard to judge the service by it.
  enum class Served : uint8_t { kNot, kAnswered, kFailed, kCut };

  // The attempt with this record ends, or has ended, so. Not kNot.
  void OnServed(uint32_t record, Served how) {
    served_record_ = record;
    served_ = how;
  }

  // The call has ended, or needs no slot any more. One that awaits its request still comes.
  void Leave(Instant now) {
    if (has_place() || stage_ == Stage::kHasSlot) GiveBack(now);
  }

 private:
  enum class Stage : uint8_t {
    kOutside,     // it has not come, needs no slot, or has left
    kAwaitsWork,  // for its request, before it may take a slot from others
    kWaits,       // its place is in the queue
    kOnLoan,      // its place has a slot that no other call needs
    kHasSlot,
  };

  // As which kind of slots the guard counts that of kHasSlot besides.
  enum class Counted : uint8_t { kPlain, kOfNewMethod, kOfStream };

  // Of a call that waits, or has a slot on loan.
  struct Waiting final : GuardClient {
    Waiting(GuardGate& its_gate, int worker, Instant now)
        : gate(its_gate), place(*this, worker), since(now) {}

    // The gate destroys this meanwhile.
    void OnSlot(Instant now) override { gate.OnSlot(now); }
    void OnGuardRefused(const GuardRefusal& refusal, Instant now) override {
      gate.OnGuardRefused(refusal, now);
    }

    GuardGate& gate;
    GuardPlace place;
    const Instant since;
    Instant due = Instant::Infinite();  // of kAwaitsWork
  };

  bool TakesNoSlot() const;
  bool KeepsStreams() const;
  bool NeedsWork() const;
  void GiveBack(Instant now);
  bool observes() const { return books_.plan.guard->guard().policy().observe; }
  bool Pass(Instant now);
  void Borrow(Instant now);
  void KeepLoan();
  void TakeSlot();
  void CountSlot();
  void SetCounted(Counted counted) {
    if (counted != counted_) ChangeCounted(counted);
  }
  void ChangeCounted(Counted counted);
  void OnSlot(Instant now);
  void OnGuardRefused(const GuardRefusal& refusal, Instant now);
  void NoteArrival();
  void NoteRefusal(const GuardRefusal& refusal);
  std::string WhyRefused(GuardReason reason, int limit) const;
  void EndRefused(const GuardRefusal& refusal, Instant now);
  // In the header, so that it costs nothing where nothing is checked.
  void CheckState() const {
    LEVEE_DCHECK((awaits_work() || has_place()) == (waiting_ != nullptr));
    LEVEE_DCHECK(stage_ == Stage::kHasSlot || counted_ == Counted::kPlain);
  }

  CallBooks& books_;
  Call& call_;
  std::unique_ptr<Waiting> waiting_;  // of kAwaitsWork, kWaits and kOnLoan
  uint32_t served_record_ = 0;        // of served_: the attempt's
  Served served_ = Served::kNot;
  Stage stage_ = Stage::kOutside;
  Counted counted_ = Counted::kPlain;
};

}  // namespace levee
