// One RPC as a state machine without I/O: attempts, commit, deadline, replay.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "absl/container/inlined_vector.h"
#include "base/chunk.h"
#include "base/instant.h"
#include "base/random.h"
#include "call/call_host.h"
#include "call/replay_buffer.h"
#include "policy/backoff.h"
#include "policy/retry_budget.h"
#include "policy/retry_decision.h"
#include "policy/retry_policy.h"
#include "wire/call_record.h"

namespace levee {

// What a call works with. Everything referred to outlives the call.
struct CallParts {
  CallHost& host;
  const CallPolicy& policy;
  const OverloadPolicy& overload;
  RetryBudget& budget;
  int worker;  // the budget's shard
  Random& random;
  ReplayLease& replay;
  std::string_view upstream;  // the name in marks
  int endpoints;              // how many the upstream has
};

// What the request's head says.
struct RequestFacts {
  absl::Duration timeout = absl::InfiniteDuration();  // grpc-timeout
  int previous_attempts = 0;                          // grpc-previous-rpc-attempts
};

// The host creates it with the request's head, tells it events, each with `now`, and destroys it
// after Finish. One thread. At most one attempt is active at a time.
//
//   Start -> attempt -> [failure -> DecideRetry -> backoff -> attempt]* -> Finish
//                \-> commit (head, message, buffer full) -> bodies bypass the call -> Finish
class Call {
 public:
  explicit Call(const CallParts& parts);
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  // Starts the first attempt, or finishes at once (deadline passed, application retry refused).
  void Start(const RequestFacts& facts, Instant now);

  // A piece of the request; `end`: the caller half-closed. Not called once committed.
  void OnRequest(const Chunk& chunk, bool end);

  // The caller reset its stream or its connection was lost.
  void OnCallerGone(Instant now);

  // The attempt's response head came: a gRPC answer that has not ended yet. 1xx heads and answers
  // that are not gRPC are not heads. Told also when the call is committed already.
  void OnHead(AttemptId attempt, Instant now);

  // The first bytes of the response body came. Afterwards the call is committed.
  void OnMessage(AttemptId attempt);

  // The attempt is over, one way or the other. Its last event.
  void OnAttemptEnd(AttemptId attempt, const AttemptOutcome& outcome, Instant now);

  // The timer asked for by CallHost::SetTimer.
  void OnTimer(Instant now);

  // The sidecar stops and cannot wait for the call any longer: ends it with UNAVAILABLE.
  void OnDrainTimeout(Instant now);

  bool finished() const { return finished_; }
  bool committed() const { return committed_; }

 private:
  void StartAttempt(Instant now);
  void SendBuffered();
  void Commit();
  void CommitToAnswer();
  bool Idempotent() const { return parts_.policy.idempotency == IdempotencyMode::kAlways; }
  bool MayHold() const;
  void HandleFailure(AttemptOutcome outcome, Instant now);
  void ScheduleRetry(const RetryDecision& decision, Instant now);
  void EndExhausted(const AttemptOutcome& outcome, std::optional<RefusalReason> reason,
                    Instant now);
  void EndMarked(const MarkedStatus& marked, Instant now);
  void EndForwarding(StatusCode code, Instant now);
  void EndLocally(StatusCode code, std::string message, Instant now);
  void Finish(const FinalStatus& status, Instant now);
  void RecordAttemptEnd(const AttemptOutcome& outcome, Instant now);
  void AvoidEndpoint(int64_t endpoint);
  AttemptPlace AbandonAttempt(StatusCode code, Instant now);
  void OnAttemptTimeout(Instant now);
  void ArmTimer();

  const CallParts parts_;
  Backoff backoff_;
  ReplayBuffer buffer_;
  CallRecord record_;

  AttemptId active_ = 0;  // 0: none
  int attempts_ = 0;      // made, transparent ones excluded: what max_attempts counts
  int unsent_ = 0;        // attempts that never left
  int app_attempts_ = 0;  // grpc-previous-rpc-attempts of the request
  bool charged_ = false;  // the attempt that is next or active was paid from the budget
  bool half_closed_ = false;
  bool replayable_ = true;
  bool head_came_ = false;  // of the active attempt; perhaps held
  bool answered_ = false;   // the answer has begun to go to the caller
  bool committed_ = false;  // answered, or the request could not be kept
  bool finished_ = false;
  bool transparent_used_ = false;
  bool resend_ = false;  // the next attempt takes the place of one that never left

  // What the next attempt follows; read when it starts.
  std::optional<RetryDecision> retry_;
  StatusCode last_code_ = StatusCode::kUnavailable;
  absl::InlinedVector<int64_t, 2> failed_endpoints_;
  absl::InlinedVector<int64_t, 2> forbidden_endpoints_;

  Instant deadline_ = Instant::Infinite();
  Instant attempt_deadline_ = Instant::Infinite();
  Instant retry_at_ = Instant::Infinite();
  Instant hold_until_ = Instant::Infinite();
};

}  // namespace levee
