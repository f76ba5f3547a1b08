// SPDX-License-Identifier: Apache-2.0
// How a call with an idempotency key runs once, and calls that repeat it get its answer.
#include <algorithm>
#include <string>
#include <string_view>
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

}  // namespace

// False if the call is refused, and finished.
bool Call::BeginKeyed(const RequestFacts& facts, Instant now) {
  if (!facts.dedupe_fault.empty()) {
    books_.record.dedupe = DedupeResult::kRefused;
    EndLocally(StatusCode::kInvalidArgument, facts.dedupe_fault, now);
    return false;
  }
  // The answer of a stream cannot be kept.
  if (!facts.dedupe_key.empty() && !books_.parts.method.IsSurelyStream()) {
    keyed_.reset(new Keyed(*this, books_.parts, facts));
  }
  return true;
}

// Whether the call may run now. If not, it waits, or is finished.
bool Call::HasKey(Instant now) {
  if (keyed_->has_key) return true;
  return ActOnKeyStep(books_.parts.dedupe->Ask(keyed_->place, keyed_->digest, now), now);
}

bool Call::ActOnKeyStep(const DedupeTable::Step& step, Instant now) {
  using Kind = DedupeTable::Step::Kind;
  Keyed& keyed = *keyed_;
  keyed.needs_request = step.kind == Kind::kNeedsRequest;
  keyed.asks_store = step.asks_store;
  keyed.waits = step.kind == Kind::kWaits && !step.asks_store;
  keyed.waited = keyed.waited || keyed.waits;
  switch (step.kind) {
    case Kind::kFirst:
      keyed.has_key = true;
      keyed.since = now;
      books_.record.dedupe = DedupeResult::kFirst;
      if (!keyed.dropped) return true;
      // It cannot run, as its request is not there any more.
      ActOnKeyAnswer({.kind = DedupeAnswer::Kind::kInFlight}, now);
      return false;
    case Kind::kFull:
      return RunWithoutStore(step.runs_without_key,
                             "the store of idempotency keys has no room; the call has not run",
                             now);
    case Kind::kAnswered:
      ActOnKeyAnswer(step.answer, now);
      return false;
    case Kind::kNeedsRequest:
    case Kind::kWaits:
      DropPending();
      entry_at_ = step.look_at;
      ArmTimer();
      return false;
  }
  return false;
}

// The key cannot be stored. Returns `runs`; if that is false, the call is finished.
bool Call::RunWithoutStore(bool runs, std::string_view reason, Instant now) {
  books_.record.dedupe = DedupeResult::kStoreFailed;
  keyed_.reset();
  if (!runs) {
    Finish({.code = StatusCode::kUnavailable, .message = reason, .pushback = kInFlightPushback},
           now);
  }
  return runs;
}

// Lets the rest of the request come to a call that waits for its end, or for another call.
void Call::DropPending() {
  if (!DropsRequest() || books_.body.pending_bytes() == 0) return;
  keyed_->dropped = true;
  books_.parts.host.CreditRequest(books_.body.pending_bytes());
  books_.body.Clear();
}

// A piece of the request has come; `end`: the last one.
void Call::NoteKeyedRequest(const Chunk& chunk, bool end) {
  Keyed& keyed = *keyed_;
  if (!chunk.empty()) keyed.request.Add(chunk);
  if (!end) return;
  keyed.digest = keyed.request.End();
  if (keyed.has_key) books_.parts.dedupe->SetDigest(keyed.place, *keyed.digest);
}

void Call::OnKey(Instant now) {
  const OneEvent event(&books_.parts.replay);
  ActOnKeyStep({.kind = DedupeTable::Step::Kind::kFirst}, now);
  if (books_.finished) return;
  // The request may have become complete while the key was on its way.
  if (keyed_->digest.has_value()) books_.parts.dedupe->SetDigest(keyed_->place, *keyed_->digest);
  Begin(now);
}

void Call::OnKeyUnknown(Instant now) {
  const OneEvent event(&books_.parts.replay);
  Begin(now);
}

void Call::OnKeyAnswer(const DedupeAnswer& answer, Instant now) {
  const OneEvent event(&books_.parts.replay);
  ActOnKeyAnswer(answer, now);
}

void Call::ActOnKeyAnswer(const DedupeAnswer& answer, Instant now) {
  using Kind = DedupeAnswer::Kind;
  keyed_->waits = keyed_->asks_store = false;
  FinalStatus status;
  std::string message;
  switch (answer.kind) {
    case Kind::kReplay:
      books_.record.dedupe = keyed_->waited ? DedupeResult::kWaited : DedupeResult::kReplayed;
      Finish({.code = answer.stored->code(), .replay = answer.stored.get()}, now);
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
      if (RunWithoutStore(answer.runs_without_key, kStoreAway, now)) Begin(now);
      return;
    case Kind::kLost:
      books_.record.dedupe = DedupeResult::kLost;
      status.code = StatusCode::kFailedPrecondition;
      message = "the first call with this idempotency key was lost; it may have run";
      break;
  }
  status.message = message;
  Finish(status, now);
}

DedupeEnding Call::KeyEnding(const FinalStatus& status) const {
  const std::optional<StatusCode> said = attempts_.application_said();
  if (!said.has_value() || SaysAgain(*said)) {
    return attempts_.may_have_run() ? DedupeEnding::kUnknown : DedupeEnding::kReleased;
  }
  const bool answered = status.forward_trailers && !WasBrokenOff(*said);
  return answered ? DedupeEnding::kKept : DedupeEnding::kUnknown;
}

void Call::LeaveKey(const FinalStatus& status, Instant now) {
  if (!std::exchange(keyed_->has_key, false)) {
    books_.parts.dedupe->Withdraw(keyed_->place, now);
    return;
  }
  const DedupeEnding ending = KeyEnding(status);
  StoredAnswerPtr answer;
  if (ending == DedupeEnding::kKept) answer = books_.parts.host.KeepAnswer(status);
  books_.parts.dedupe->End(keyed_->place, ending, std::move(answer), now);
}

}  // namespace levee
