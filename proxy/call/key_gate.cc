// SPDX-License-Identifier: Apache-2.0
#include "call/key_gate.h"

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "call/call.h"

namespace levee {
namespace {

// When to try again a call whose first one runs, and may be answered soon.
constexpr absl::Duration kInFlightPushback = absl::Seconds(1);

constexpr std::string_view kStoreAway =
    "the store of idempotency keys does not answer; the call has not run";

// The statuses with which an application says that the call is to be tried again.
bool SaysAgain(StatusCode code) {
  return code == StatusCode::kUnavailable || code == StatusCode::kResourceExhausted ||
         code == StatusCode::kAborted;
}

// The statuses that say that the work was broken off, wherever it was. Libraries answer with them
// for an application that stops.
bool WasBrokenOff(StatusCode code) {
  return code == StatusCode::kCancelled || code == StatusCode::kDeadlineExceeded;
}

DedupeEnding EndingOf(const FinalStatus& status, const Attempts& attempts) {
  const std::optional<StatusCode> said = attempts.application_said();
  if (!said.has_value() || SaysAgain(*said)) {
    return attempts.may_have_run() ? DedupeEnding::kUnknown : DedupeEnding::kReleased;
  }
  const bool answered = status.forward_trailers && !WasBrokenOff(*said);
  return answered ? DedupeEnding::kKept : DedupeEnding::kUnknown;
}

}  // namespace

bool KeyGate::Ask(Instant now) {
  return ActOn(books_.plan.dedupe->Ask(keyed_->place, keyed_->digest, now), now);
}

// The stage in which the call is after the step.
KeyGate::Stage KeyGate::StageOf(const DedupeTable::Step& step) {
  switch (step.kind) {
    case DedupeTable::Step::Kind::kFirst:
      return Stage::kHasKey;
    case DedupeTable::Step::Kind::kNeedsRequest:
      return Stage::kNeedsRequest;
    case DedupeTable::Step::Kind::kWaits:
      return step.asks_store ? Stage::kAsksStore : Stage::kWaits;
    case DedupeTable::Step::Kind::kAnswered:
    case DedupeTable::Step::Kind::kFull:
      return Stage::kOutside;
  }
  return Stage::kOutside;
}

bool KeyGate::ActOn(const DedupeTable::Step& step, Instant now) {
  using Kind = DedupeTable::Step::Kind;
  Keyed& keyed = *keyed_;
  keyed.stage = StageOf(step);
  keyed.waited = keyed.waited || keyed.stage == Stage::kWaits;
  due_ = Instant::Infinite();
  switch (step.kind) {
    case Kind::kFirst:
      keyed.since = now;
      books_.record.dedupe = DedupeResult::kFirst;
      if (!keyed.dropped) return true;
      // It cannot run, as its request is not there any more.
      ActOnAnswer({.kind = DedupeAnswer::Kind::kInFlight}, now);
      return false;
    case Kind::kFull:
      return RunWithoutStore(step.runs_without_key,
                             "the store of idempotency keys has no room; the call has not run",
                             now);
    case Kind::kAnswered:
      ActOnAnswer(step.answer, now);
      return false;
    case Kind::kNeedsRequest:
    case Kind::kWaits:
      DropPending();
      due_ = step.look_at;
      call_.WakeBy(due_);
      return false;
  }
  return false;
}

// The key cannot be stored. Returns `runs`; if that is false, the call is finished.
bool KeyGate::RunWithoutStore(bool runs, std::string_view reason, Instant now) {
  books_.record.dedupe = DedupeResult::kStoreFailed;
  keyed_.reset();
  if (!runs) {
    call_.Finish(
        {.code = StatusCode::kUnavailable, .message = reason, .pushback = kInFlightPushback}, now);
  }
  return runs;
}

// Lets the rest of the request come to a call that waits for its end, or for another call.
void KeyGate::DropPending() {
  if (!drops_request() || books_.body.pending_bytes() == 0) return;
  keyed_->dropped = true;
  books_.host.CreditRequest(books_.body.pending_bytes());
  books_.body.Clear();
}

void KeyGate::OnRequest(const Chunk& chunk, bool end) {
  if (!keyed()) return;
  Keyed& keyed = *keyed_;
  if (!chunk.empty()) keyed.request.Add(chunk);
  if (!end) return;
  keyed.digest = keyed.request.End();
  if (keyed.stage == Stage::kHasKey) books_.plan.dedupe->SetDigest(keyed.place, *keyed.digest);
}

void KeyGate::OnKey(Instant now) {
  const OneEvent event(&books_.plan.replay);
  ActOn({.kind = DedupeTable::Step::Kind::kFirst}, now);
  if (books_.finished) return;
  // The request may have become complete while the key was on its way.
  if (keyed_->digest.has_value()) books_.plan.dedupe->SetDigest(keyed_->place, *keyed_->digest);
  call_.Begin(now);
}

void KeyGate::OnKeyUnknown(Instant now) {
  const OneEvent event(&books_.plan.replay);
  call_.Begin(now);
}

void KeyGate::OnKeyAnswer(const DedupeAnswer& answer, Instant now) {
  const OneEvent event(&books_.plan.replay);
  ActOnAnswer(answer, now);
}

void KeyGate::ActOnAnswer(const DedupeAnswer& answer, Instant now) {
  using Kind = DedupeAnswer::Kind;
  due_ = Instant::Infinite();
  // One that got the key but has dropped its request still has to give the key back.
  if (keyed_->stage != Stage::kHasKey) keyed_->stage = Stage::kOutside;
  FinalStatus status;
  std::string message;
  switch (answer.kind) {
    case Kind::kReplay:
      books_.record.dedupe = keyed_->waited ? DedupeResult::kWaited : DedupeResult::kReplayed;
      call_.Finish({.code = answer.stored->code(), .replay = answer.stored.get()}, now);
      return;
    case Kind::kEnded:
      books_.record.dedupe = DedupeResult::kRefused;
      status.code = StatusCode::kAlreadyExists;
      message = absl::StrCat("the first call with this idempotency key has ended with ",
                             std::string(StatusCodeName(answer.stored->code())));
      break;
    case Kind::kInFlight:
      books_.record.dedupe = DedupeResult::kRefused;
      status.code = StatusCode::kAborted;
      status.pushback = kInFlightPushback;
      message = "the first call with this idempotency key has not ended yet";
      break;
    case Kind::kMismatch:
      books_.record.dedupe = DedupeResult::kMismatch;
      status.code = StatusCode::kInvalidArgument;
      message = "the first call with this idempotency key was another request";
      break;
    case Kind::kStoreAway:
      if (RunWithoutStore(answer.runs_without_key, kStoreAway, now)) call_.Begin(now);
      return;
    case Kind::kLost:
      books_.record.dedupe = DedupeResult::kLost;
      status.code = StatusCode::kFailedPrecondition;
      message = "the first call with this idempotency key was lost; it may have run";
      break;
  }
  status.message = message;
  call_.Finish(status, now);
}

std::string_view KeyGate::WhatIsAwaited() const {
  switch (stage()) {
    case Stage::kWaits:
      return "the first call with the idempotency key was answered";
    case Stage::kNeedsRequest:
      return "the request was complete";
    case Stage::kAsksStore:
      return "the store of idempotency keys answered";
    case Stage::kOutside:
    case Stage::kHasKey:
      return "";
  }
  return "";
}

bool KeyGate::GoesOnAlone(const Attempts& attempts, Instant now) {
  if (stage() != Stage::kHasKey || !books_.body.half_closed() || now >= ClaimEnd()) return false;
  // Its answer cannot be kept.
  if (books_.signs.answer().IsStream()) return false;
  // It has surely not run, so it can as well run when it is repeated.
  if (!attempts.AnyHasLeft()) return false;
  if (books_.plan.guard == nullptr) return true;
  Guard& guard = books_.plan.guard->guard();
  const int slots = guard.policy().observe ? 0 : guard.GetSlots().limit;
  keyed_->lone = guard.lone_calls().Enter(keyed_->place.owner().sender, slots);
  books_.record.lone_calls_full = keyed_->lone == nullptr;
  return keyed_->lone != nullptr;
}

void KeyGate::Leave(const FinalStatus& status, const Attempts& attempts, Instant now) {
  if (std::exchange(keyed_->stage, Stage::kOutside) != Stage::kHasKey) {
    books_.plan.dedupe->Withdraw(keyed_->place, now);
    return;
  }
  const DedupeEnding ending = EndingOf(status, attempts);
  StoredAnswerPtr answer;
  if (ending == DedupeEnding::kKept) answer = books_.host.KeepAnswer(status);
  books_.plan.dedupe->End(keyed_->place, ending, std::move(answer), now);
}

}  // namespace levee
