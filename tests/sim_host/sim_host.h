// One call on virtual time: the second host of Call.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/time/time.h"
#include "call/call.h"
#include "call/call_host.h"
#include "sim_host/answer.h"
#include "sim_host/sim_clock.h"
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
  std::vector<int64_t> avoid;

  std::string received;      // the request's bytes, in order
  bool half_closed = false;  // END_STREAM came after them
  std::optional<absl::Duration> cancelled_at;
  std::optional<absl::Duration> ended_at;
  std::optional<bool> judged;  // what the call said of it for its endpoint
  int dropped_events = 0;      // what the upstream did after the attempt was over
};

// What the caller saw.
struct SimCaller {
  std::optional<absl::Duration> head_at;  // none at the end: trailers-only
  std::string body;
  std::optional<absl::Duration> finished_at;
  StatusCode code = StatusCode::kUnknown;
  std::string message;
  std::optional<absl::Duration> pushback;  // of a local reply
  Metadata trailers;

  std::string sent;     // by the caller
  size_t credited = 0;  // flow-control window given back, in bytes
};

// Holds Call to its side of the boundary as well: a broken rule of CallHost ends the process. Made
// by SimSidecar, which it refers to; the clock's events refer to it.
class SimHost : public CallHost {
 public:
  using OnFinish = std::function<void(const SimCaller&)>;

  SimHost(SimSidecar& sidecar, OnFinish on_finish);
  SimHost(const SimHost&) = delete;
  SimHost& operator=(const SimHost&) = delete;

  // The caller's side. What it does after its call has ended is dropped.
  // Its keys are empty: all calls share the buckets of a rate limit.
  void Start(RequestFacts facts);
  void Send(std::string_view bytes, bool end = false);
  void HalfClose() { Send("", true); }
  // Its stream was reset, or its connection lost.
  void Leave();

  // The upstream's side. What it does after the attempt is over is dropped and counted.
  void Deliver(AttemptId id, const Answer::Step& step);
  // `f` is called when the attempt is cancelled.
  void OnCancel(AttemptId id, std::function<void()> f) { At(id).on_cancel = std::move(f); }

  void DrainTimeout();

  // What happened so far. Attempts are numbered from 1; those that never left are numbered too.
  const SimCaller& caller() const { return caller_; }
  bool finished() const { return caller_.finished_at.has_value(); }
  int attempts() const { return static_cast<int>(streams_.size()); }
  const SimAttempt& attempt(AttemptId id) const { return streams_.at(static_cast<size_t>(id) - 1); }
  const CallRecord& record() const { return record_; }  // once finished
  bool timer_armed() const { return !timer_.is_infinite(); }
  SimClock& clock();
  // For events that no host should tell. Gone at the end of the turn in which the call finishes.
  Call& call() { return *call_; }

  // CallHost.
  AttemptId StartAttempt(const AttemptStart& start) override;
  void SendRequest(AttemptId id, const Chunk& chunk, bool end) override;
  AttemptPlace CancelAttempt(AttemptId id) override;
  void JudgeAttempt(AttemptId id, bool success) override { At(id).judged = success; }
  void Commit(AttemptId id) override;
  void Finish(const FinalStatus& status, const CallRecord& record) override;
  void CreditRequest(size_t bytes) override;
  void SetTimer(Instant when) override;

 private:
  struct Piece {
    Chunk chunk;
    bool end = false;
    size_t taken = 0;  // bytes of the chunk that the upstream has
  };
  struct Stream : SimAttempt {
    AttemptPlace place;
    std::deque<Piece> queue;
    size_t window = SIZE_MAX;
    bool end_queued = false;
    bool has_head = false;
    std::function<void()> on_cancel;
    bool over() const { return cancelled_at.has_value() || ended_at.has_value(); }
  };

  Stream& At(AttemptId id) { return streams_.at(static_cast<size_t>(id) - 1); }
  void Play(AttemptId id, const Answer& answer);
  void Forward(AttemptId id);
  void ForwardHead();
  void EndAttempt(AttemptId id, const Answer::Step& step);

  SimSidecar& sidecar_;
  const OnFinish on_finish_;
  std::optional<Call> call_;  // until the end of the turn in which it finishes
  std::deque<Stream> streams_;
  std::set<AttemptId> active_;
  AttemptId committed_ = 0;   // 0: none
  AttemptId last_ended_ = 0;  // and was not cancelled
  Metadata last_trailers_;    // its trailers
  std::vector<std::string> rate_keys_;
  SimCaller caller_;
  CallRecord record_;
  Instant timer_ = Instant::Infinite();
  int timer_generation_ = 0;
};

}  // namespace levee
