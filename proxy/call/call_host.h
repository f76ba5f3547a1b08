// SPDX-License-Identifier: Apache-2.0
// The only boundary between a call and the outside. There are two hosts: the network's (server/)
// and the virtual-time one of the tests.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "absl/time/time.h"
#include "base/chunk.h"
#include "base/instant.h"
#include "dedupe/stored_answer.h"
#include "policy/failed_calls.h"
#include "policy/retry_decision.h"
#include "wire/call_record.h"
#include "wire/overload_mark.h"
#include "wire/status.h"

namespace levee {

// 1-based, in the order in which the attempts of a call were started, transparent ones included.
using AttemptId = int;

// Less time than this is not given to an upstream: it could do nothing with it. A call that has
// less is over (gRPC's core sends "1n" for a deadline that has passed).
inline constexpr absl::Duration kLeastTimeout = absl::Milliseconds(1);

struct AttemptStart {
  // The value of grpc-previous-rpc-attempts: what the application sent plus the call's own
  // earlier attempts, transparent ones excluded. 0: the header is absent.
  int previous_attempts = 0;
  // Its record's index in CallRecord::attempts. An attempt that takes the place of one that never
  // left has the record of that.
  uint32_t record = 0;
  // The call's, which the host needs to know only for how long the attempt may wait.
  Instant deadline = Instant::Infinite();
  // The deadline that the upstream is told, as grpc-timeout; Infinite: none is sent.
  Instant told = Instant::Infinite();
  // When the call's first attempt started: it may wait for a connection from then on.
  Instant begun;
  // Endpoints on which attempts of this call have failed, to be taken only if no other can.
  std::span<const int64_t> avoid;
  // Endpoints that said "overloaded, not this instance" (overload mark, scope endpoint): never
  // taken.
  std::span<const int64_t> forbidden;
  // If it fails, the call may try again.
  bool repeatable = false;
};

// How the call ends for the caller.
struct FinalStatus {
  StatusCode code = StatusCode::kUnknown;
  // The attempt that the answer comes from, the last one that ended, or 0: no attempt's. It left no
  // trailers if it was cancelled.
  AttemptId attempt = 0;
  // The attempt's trailers go to the caller as they are; everything below is unused.
  bool forward_trailers = false;
  // Unencoded text of a local reply. Valid during Finish only.
  std::string_view message;
  // Of a local reply: when the caller may try again (grpc-retry-pushback-ms).
  std::optional<absl::Duration> pushback;
  // Not null: the answer of an earlier call, for this one as well; all other answers are unused.
  // Valid during Finish only.
  const StoredAnswer* replay = nullptr;
  // Not null: the marked answer, written over the attempt's trailers (over an empty block if it
  // left none). Valid during Finish only.
  const MarkedStatus* marked = nullptr;
};

// A Call asks these things of its host. No function here calls back into the Call before it
// returns; what follows from it (even a failure that is known at once) is reported in a later turn.
class CallHost {
 public:
  virtual ~CallHost() = default;

  // Others may be under way (hedging): endpoints on which they run are avoided like those of
  // `start.avoid`.
  virtual AttemptId StartAttempt(const AttemptStart& start) = 0;

  // Queues a piece of the request on the attempt; `end` half-closes it, then `chunk` may be empty.
  virtual void SendRequest(AttemptId attempt, const Chunk& chunk, bool end) = 0;

  // The attempt is abandoned: RST_STREAM(CANCEL) if it left. No event for it comes afterwards.
  // Returns where it ran.
  virtual AttemptPlace CancelAttempt(AttemptId attempt) = 0;

  // The attempt, which has ended or ran into the call's deadline, speaks well or ill of the
  // endpoint it ran on (CountsAsSuccess). Not told of attempts that say nothing about it: those
  // abandoned for another reason, and those that failed because a service further on is overloaded.
  virtual void JudgeAttempt(AttemptId attempt, bool success) = 0;

  // Returns how many endpoints the upstream has now, at least 1. Names are looked up, so it may
  // have others than when the call began.
  virtual int Endpoints() const = 0;

  // The attempt's answer is the caller's: its head is forwarded (now, if it has been held), and
  // bodies in both directions go from host to host from here on. Request bytes beyond those
  // credited by CreditRequest are credited as they are forwarded on this attempt. No other attempt
  // is under way; this one may just have ended.
  virtual void Commit(AttemptId attempt) = 0;

  // Returns a copy of the answer that Finish is to be given, which is the committed attempt's.
  // Asked only of calls with a key (CallPlanParts::dedupe).
  virtual StoredAnswerPtr KeepAnswer(const FinalStatus& status) = 0;

  // The call has come to the guard of its service. Its callers had made `previous` attempts before.
  virtual void OnGuarded(int previous) = 0;

  // The call, which was not known to be a stream when it began, has turned out to be one.
  virtual void OnStream() = 0;

  // Ends the call for the caller, after what has been forwarded already. The last thing a Call
  // does; the host destroys it at the end of the turn.
  virtual void Finish(const FinalStatus& status, const CallRecord& record) = 0;

  // Gives `bytes` of flow-control window back to the caller: they are in the replay buffer.
  virtual void CreditRequest(size_t bytes) = 0;

  // Whether the attempt has left: the upstream may have its request, or some of it. Else it waits
  // for a connection.
  virtual bool HasLeft(AttemptId attempt) const = 0;

  // Returns what the call has in common with others of its loop. Asked only if the call fails, or
  // another one to its destination has failed.
  virtual CallKin Kin() const = 0;

  // The call is in a state in which it should never be: an invariant of its own is broken, `what`.
  // The host ends the call with INTERNAL (Call::OnBroken) once the event is over, and tells of it.
  // Only for what concerns no other call; LEVEE_CHECK is for everything that calls share.
  virtual void OnBroken(const char* what) = 0;

  // Returns the endpoint as people read it ("10.0.0.7:50051"); empty if it is not known any more.
  // Asked only when a call ends after a wait in vain.
  virtual std::string EndpointName(int64_t endpoint) const = 0;

  // Replaces the call's one timer; Infinite: none.
  virtual void SetTimer(Instant when) = 0;
};

}  // namespace levee
