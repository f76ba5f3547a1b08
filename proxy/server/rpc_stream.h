// SPDX-License-Identifier: Apache-2.0
// One RPC on the network: the production host of a Call.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "base/block_cache.h"
#include "base/graveyard.h"
#include "base/intrusive_list.h"
#include "base/timer_wheel.h"
#include "call/call.h"
#include "call/call_host.h"
#include "call/lease_admission.h"
#include "dedupe/answer_recorder.h"
#include "guard/unreported_calls.h"
#include "h2/stream.h"
#include "policy/limit_key.h"
#include "server/accepted_connection.h"
#include "server/attempt_slots.h"
#include "server/call_log.h"
#include "server/call_plan.h"
#include "server/call_tie.h"
#include "server/refusal_watch.h"
#include "server/request_head.h"
#include "server/span_sink.h"
#include "telemetry/record_call.h"
#include "trace/call_trace.h"
#include "wire/metadata.h"

namespace levee {

// The objects that a call on the network works with; they outlive it.
struct RpcEnvironment {
  WorkerIo& io;
  Random& random;
  ReplayLease& replay;
  Metrics& metrics;
  WorkerSeries& series;
  CallLog& log;
  RefusalWatch& refusal_watch;
  MethodKinds& methods;
  LeaseAdmission& leases;
  const Hops& hops;
  const TieEnvironment& ties;
  SpanSink& spans;
  int worker;
};

class Worker;

// Joins a downstream stream, a Call, and the attempt that is under way. Bodies go straight from one
// stream to the other once the call is committed. One thread. Above 30 functions: the slots of
// attempts, the report and the downstream stream are not parted yet. Above 20 data members: for the
// same reason.
class RpcStream final : public InBlocks,
                        public Mortal,
                        public ListLink<RpcStream>,
                        public h2::StreamHandler,
                        private CallHost,
                        private Timer {
 public:
  // `origin`: of the connection that `downstream` is on, and which ends no earlier than that.
  // `worker`: keeps the call, and destroys it no earlier than at the end of the turn in which it is
  // told that the call is finished.
  RpcStream(RpcEnvironment& environment, Worker& worker, std::shared_ptr<CallPlan> plan,
            const ConnectionOrigin& origin, h2::Stream& downstream, Metadata& request);

  // Starts the call; it may finish at once. `unreported`: of its connection.
  void Start(RequestFacts facts, UnreportedCalls& unreported, bool request_ended);

  const ConnectionOrigin& origin() const { return *origin_; }

  // Whether the call is a stream, as far as is known.
  bool is_stream() const { return call_.is_stream(); }

  // The caller has its answer: the stream's events are not wanted any more.
  bool answered() const { return downstream_ == nullptr; }

  // Ends it with UNAVAILABLE, because the sidecar cannot wait any longer.
  void EndForDrain() { call_.OnDrainTimeout(now()); }

  // The application takes no connections: ends it, unless an attempt of it has begun.
  void EndUnsent() { call_.OnApplicationGone(now()); }

  // Returns how many bytes of bodies and heads the call holds.
  size_t held_bytes() const;

  // Ends it, and drops what it holds, because there is no memory left: with UNAVAILABLE, or by a
  // reset if the answer has begun.
  void EndForMemory();

  // The trace of the calls that it follows, if it ends with them.
  std::optional<TraceNumber> followed() const {
    if (!tie_.has_value() || !tie_->CanBeCancelled()) return std::nullopt;
    return tie_->trace();
  }

  // The caller of a call of `followed` has gone.
  void OnFollowedGone() {
    if (tie_->IsInVain(now())) call_.OnInVain(now());
  }

  // The following are the events of the call's attempts. Nobody else calls them. They come from
  // within the callbacks of the upstream session.
  //
  // A gRPC response head that is not the whole answer came; it may be swapped out.
  void OnAttemptHead(AttemptId id, Metadata& head);

  // Bytes of the response came.
  void OnAttemptData(AttemptId id, const Chunk& data);

  // `bytes` of the request were sent.
  void OnAttemptSent(AttemptId id, size_t bytes);

  // The attempt is over; `trailers` (empty if it left none) may be swapped out. The attempt may be
  // started again from here.
  void OnAttemptEnded(AttemptId id, const AttemptOutcome& outcome, Metadata& trailers);

 private:
  // Of the caller's stream.
  void OnHead(Metadata&, bool) override {}
  void OnData(const Chunk& data) override;
  void OnEnd(Metadata* trailers) override;
  void OnSent(size_t bytes) override;
  void OnClosed(const StreamEnd& end) override;

  // For the Call.
  AttemptId StartAttempt(const AttemptStart& start) override;
  void SendRequest(AttemptId attempt, const Chunk& chunk, bool end) override;
  AttemptPlace CancelAttempt(AttemptId attempt) override;
  void JudgeAttempt(AttemptId attempt, bool success) override;
  int Endpoints() const override { return plan_->destination->pool->size(); }
  void Commit(AttemptId attempt) override;
  StoredAnswerPtr KeepAnswer(const FinalStatus& status) override;
  void Finish(const FinalStatus& status, const CallRecord& record) override;
  void CreditRequest(size_t bytes) override;
  bool HasLeft(AttemptId id) const override {
    bool left = false;
    attempts_.ForEachActive([&](const UpstreamAttempt& attempt) {
      left = left || (attempt.id() == id && attempt.endpoint() >= 0);
    });
    return left;
  }
  CallKin Kin() const override;
  void OnBroken(const char* what) override;
  void OnGuarded(int previous) override { RecordArrival(*plan_->series.guard, previous); }
  void OnStream() override;
  std::string EndpointName(int64_t endpoint) const override {
    return plan_->destination->pool->EndpointName(endpoint);
  }
  void SetTimer(Instant when) override;

  // Returns the slot of an attempt; nullptr, and the call is broken, if it has none.
  AttemptSlot* At(AttemptId id);
  const Hop& hop() const;

  void OnTimer(Instant now) override;
  LimitKey ReadDedupeKey(RequestFacts& facts);
  void ReadPriority(RequestFacts& facts);
  void ReadReport(UnreportedCalls& unreported);
  void ListMethod();
  void NameGuardMethod();
  void BeginTie(RequestFacts& facts);
  std::optional<OverloadMark> EndTie(const FinalStatus& status, const CallRecord& record);
  void BeginTrace(const std::optional<Traceparent>& caller);
  void EndTrace(const FinalStatus& status, const CallRecord& record);
  std::string MessageOf(const FinalStatus& status) const;
  void Request(const Chunk& chunk, bool end);
  void End(const FinalStatus& status, const CallRecord& record);
  void ForwardHead(AttemptSlot& slot);
  void CreditForwarded();
  void Record(const CallRecord& record);
  void Log(const FinalStatus& status, const CallRecord& record);
  void TellDecisions(const CallRecord& record);
  Instant now() const { return environment_.io.loop.now(); }

  RpcEnvironment& environment_;
  Worker& worker_;
  const std::shared_ptr<CallPlan> plan_;
  std::unique_ptr<const ConnectionOrigin> own_origin_;  // of a call that outlives its connection
  const ConnectionOrigin* origin_;
  absl::InlinedVector<LimitKey, 1> rate_keys_;  // one per limit
  h2::Stream* downstream_;                      // nullptr once the caller is gone or answered
  Metadata request_;
  Call call_;
  std::optional<CallTie> tie_;
  std::unique_ptr<const CallTrace> trace_;    // nullptr: the call has no spans
  std::unique_ptr<AnswerRecorder> recorder_;  // of a call with an idempotency key

  AttemptSlots attempts_;
  AttemptId last_id_ = 0;
  AttemptSlot* committed_ = nullptr;  // whose answer is the caller's
  bool head_sent_ = false;
  bool broken_ = false;       // and is to end with INTERNAL
  AttemptId last_ended_ = 0;  // and was not cancelled
  Metadata trailers_;         // its trailers

  uint64_t request_bytes_ = 0;   // that came
  uint64_t response_bytes_ = 0;  // that went to the caller
  size_t credited_ = 0;          // bytes of the request that were returned to the caller as window
  Instant timer_at_ = Instant::Infinite();
};

}  // namespace levee
