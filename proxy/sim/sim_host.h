// SPDX-License-Identifier: Apache-2.0
// One call on virtual time: the second host of Call.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/time/time.h"
#include "call/call.h"
#include "call/call_host.h"
#include "policy/retry_decision.h"
#include "sim/answer.h"
#include "sim/inline_function.h"
#include "sim/sim_clock.h"
#include "wire/call_record.h"
#include "wire/metadata.h"
#include "wire/status.h"

namespace levee {

class SimSidecar;

// One attempt as the upstream saw it. Times are virtual, since the clock was made.
struct SimAttempt {
  int64_t endpoint = -1;  // -1: no endpoint could be reached
  absl::Duration start;
  int previous_attempts = 0;
  absl::Duration timeout;
  absl::InlinedVector<int64_t, 2> avoid;
  absl::InlinedVector<int64_t, 2> forbidden;

  std::string received;      // the request's bytes, in order
  bool half_closed = false;  // END_STREAM came after them
  std::optional<absl::Duration> cancelled_at;
  std::optional<absl::Duration> ended_at;
  std::optional<bool> judged;  // what the call said of it for its endpoint
  int dropped_events = 0;      // what the upstream did after the attempt was over
};

// Where a call comes from, as far as calls are taken for retries of one another.
struct SimOrigin {
  uint64_t trace = 0;       // 0: the call has no trace id
  uint64_t connection = 0;  // 0: one of its own
  int method = 0;           // its number
  int caller = 0;           // the number of who makes it
};

// The answer as the caller saw it. `message` and `trailers` are written only for those who can read
// them: an OnFinish, unless SimSidecar::answers_are_read says otherwise, or a test that keeps its
// calls.
struct SimCaller {
  std::optional<absl::Duration> head_at;  // none at the end: trailers-only
  std::string body;
  std::optional<absl::Duration> finished_at;
  StatusCode code = StatusCode::kUnknown;
  std::string message;
  std::optional<absl::Duration> pushback;  // of a local reply
  GuardRecord guard;
  Metadata trailers;  // without :status and content-type, also if the answer is trailers-only

  std::string sent;     // by the caller
  size_t credited = 0;  // flow-control window given back, in bytes

  void Clear();
};

// Holds Call to its side of the boundary as well: a broken rule of CallHost ends the process. Made
// by SimSidecar, which it refers to and which uses it for one call after the other. Above 30
// functions: it is both ends of a call, caller and service, and half of them implement CallHost.
class SimHost : public CallHost {
 public:
  using OnFinish = InlineFunction<void(const SimCaller&), 48>;

  explicit SimHost(SimSidecar& sidecar) : sidecar_(sidecar) {}
  SimHost(const SimHost&) = delete;
  SimHost& operator=(const SimHost&) = delete;

  // The call that a host has now, for those who may outlive it.
  class Ref {
   public:
    explicit Ref(SimHost& host) : host_(&host), generation_(host.generation_) {}
    // nullptr if the host has another call by now, or none.
    SimHost* get() const { return host_->generation_ == generation_ ? host_ : nullptr; }

   private:
    SimHost* host_;
    uint32_t generation_;
  };

  // Begins a call. Without keys in `facts` its keys are empty: all calls share the bucket of a
  // limit.
  void Start(RequestFacts facts, OnFinish&& on_finish, SimOrigin origin);
  const SimOrigin& origin() const { return origin_; }

  // The caller's side. Its acts after the end of the call are dropped.
  void Send(std::string_view bytes, bool end = false);
  void HalfClose() { Send("", true); }
  // Its stream was reset, or its connection lost.
  void Leave();

  // The upstream's side. Its acts after the end of the attempt are dropped and counted.
  void Deliver(AttemptId id, const Answer::Step& step);
  // `f` is called when the attempt is cancelled.
  template <typename F>
  void OnCancel(AttemptId id, F&& f) {
    At(id).on_cancel.Set(std::forward<F>(f));
  }

  void DrainTimeout();

  // The events so far. Attempts are numbered from 1; those that never left are numbered too.
  const SimCaller& caller() const { return caller_; }
  bool finished() const { return caller_.finished_at.has_value(); }
  int attempts() const { return attempts_; }
  const SimAttempt& attempt(AttemptId id) const { return streams_.at(static_cast<size_t>(id) - 1); }
  const CallRecord& record() const { return record_; }  // once finished, if calls are kept
  bool timer_armed() const { return !timer_at_.is_infinite(); }
  SimClock& clock();
  // For events that no host should tell. Gone at the end of the turn in which the call finishes.
  Call& call() { return *call_; }

  // For SimConnectLine: there may be an endpoint for an attempt that has waited for one; false if
  // there is none. Or it waits no more; `held_since`: since it did because nothing can be reached.
  bool Connect(AttemptId id);
  void FailToConnect(AttemptId id, std::optional<Instant> held_since);

  // CallHost.
  AttemptId StartAttempt(const AttemptStart& start) override;
  void SendRequest(AttemptId id, const Chunk& chunk, bool end) override;
  AttemptPlace CancelAttempt(AttemptId id) override;
  void JudgeAttempt(AttemptId id, bool success) override;
  int Endpoints() const override;
  void Commit(AttemptId id) override;
  StoredAnswerPtr KeepAnswer(const FinalStatus& status) override;
  void Finish(const FinalStatus& status, const CallRecord& record) override;
  void CreditRequest(size_t bytes) override;
  bool HasLeft(AttemptId id) const override { return attempt(id).endpoint >= 0; }
  CallKin Kin() const override;
  void OnBroken(const char* what) override;
  void OnGuarded(int) override {}
  void OnStream() override {}
  std::string EndpointName(int64_t endpoint) const override;
  void SetTimer(Instant when) override;

 private:
  struct Piece {
    Chunk chunk;
    bool end = false;
    size_t taken = 0;  // bytes of the chunk that the upstream has
  };
  struct Stream : SimAttempt {
    Answer answer;    // being played
    size_t step = 0;  // that comes next
    absl::InlinedVector<Piece, 1> queue;
    size_t window = SIZE_MAX;
    bool repeatable = false;
    bool end_queued = false;
    bool has_head = false;
    absl::Duration head_at;
    int attempts_at_end = 0;  // of the call, when this one was over
    InlineFunction<void(), 32> on_cancel;
    bool over() const { return cancelled_at.has_value() || ended_at.has_value(); }
  };

  Stream& At(AttemptId id) { return streams_.at(static_cast<size_t>(id) - 1); }
  Stream& Named(AttemptId id);
  void CheckAnswerOf(const FinalStatus& status);
  Stream& AddStream();
  std::optional<int64_t> Open(const Stream& stream);
  AttemptPlace PlaceOf(const Stream& stream) const;
  void Play(AttemptId id, Answer answer);
  void PlayNext(AttemptId id);
  void Forward(AttemptId id);
  void ForwardHead();
  void OnHead(AttemptId id, const Answer::Step& step);
  void OnMessage(AttemptId id, const Answer::Step& step);
  void EndWithTrailers(AttemptId id);
  void EndLeaving(AttemptId id, AttemptOutcome outcome);
  void End(AttemptId id, AttemptOutcome& outcome);
  void LeaveEndpoint(Stream& stream);
  void NoteAnswer(const Stream& stream);
  void WriteAnswer(const FinalStatus& status);
  void Arm(Instant when);
  void Look();
  void Clear();

  SimSidecar& sidecar_;
  uint32_t generation_ = 0;  // of the call that it has
  OnFinish on_finish_;
  SimOrigin origin_;
  std::optional<Call> call_;    // until the end of the turn in which it finishes
  std::deque<Stream> streams_;  // of its attempts, and behind them those of earlier calls
  int attempts_ = 0;
  absl::InlinedVector<AttemptId, 2> active_;
  AttemptId committed_ = 0;   // 0: none
  AttemptId last_ended_ = 0;  // and was not cancelled
  Metadata last_trailers_;    // its trailers
  Metadata fields_;           // of the step that is delivered
  std::vector<LimitKey> rate_keys_;
  SimCaller caller_;
  CallRecord record_;
  Instant timer_at_ = Instant::Infinite();  // that the call has asked for
  // When the clock tells the host. One call after the other has the same look: most end before it,
  // and one that is too early is cheaper than one for each of them.
  Instant next_look_ = Instant::Infinite();
};

}  // namespace levee
