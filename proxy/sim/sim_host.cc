// SPDX-License-Identifier: Apache-2.0
#include "sim/sim_host.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "absl/hash/hash.h"
#include "base/check.h"
#include "call/final_answer.h"
#include "call/outcome.h"
#include "policy/connect_gate.h"
#include "sim/sim_sidecar.h"
#include "wire/percent_encoding.h"

namespace levee {
namespace {

Chunk ToChunk(std::string_view bytes) {
  return Chunk::Copy({reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()});
}

void Fill(Metadata& list, const Answer::Fields& fields) {
  list.Clear();
  for (const auto& [name, value] : fields) list.Add(name, value);
}

// The wall clock of a simulation stands still.
absl::Time WallClock() { return absl::UnixEpoch(); }

}  // namespace

SimClock& SimHost::clock() { return sidecar_.clock(); }

void SimHost::Start(RequestFacts facts, OnFinish&& on_finish, SimOrigin origin) {
  on_finish_ = std::move(on_finish);
  origin_ = origin;
  call_.emplace(sidecar_.Parts(*this, origin_));
  if (facts.rate_keys.empty()) {
    rate_keys_.resize(sidecar_.policy.rate_limits.size());
    facts.rate_keys = rate_keys_;
  }
  facts.dedupe_owner.sender = static_cast<uint64_t>(origin_.caller);
  call_->Start(facts, clock().now());
}

void SimHost::Send(std::string_view bytes, bool end) {
  if (finished()) return;
  caller_.sent.append(bytes);
  const Chunk chunk = ToChunk(bytes);
  if (committed_ == 0) {
    call_->OnRequest(chunk, end, clock().now());
  } else {
    call_->OnForwarded(chunk, end, clock().now());
    At(committed_).queue.push_back({chunk, end});
    Forward(committed_);
  }
}

void SimHost::Leave() {
  if (!finished()) call_->OnCallerGone(clock().now());
}

void SimHost::DrainTimeout() {
  if (!finished()) call_->OnDrainTimeout(clock().now());
}

// Returns the stream of an attempt that the call names. The network's host keeps one that is over
// only until it needs its place for the next attempt.
SimHost::Stream& SimHost::Named(AttemptId id) {
  LEVEE_CHECK(!finished());
  LEVEE_CHECK(id >= 1 && id <= attempts_);
  Stream& stream = At(id);
  LEVEE_CHECK(!stream.over() || stream.attempts_at_end == attempts_);
  return stream;
}

AttemptId SimHost::StartAttempt(const AttemptStart& start) {
  LEVEE_CHECK(!finished() && committed_ == 0);
  LEVEE_CHECK(active_.empty() || sidecar_.policy.hedge.has_value());
  LEVEE_CHECK(start.deadline > clock().now());
  Stream& stream = AddStream();
  const AttemptId id = attempts_;
  stream.avoid.assign(start.avoid.begin(), start.avoid.end());
  stream.forbidden.assign(start.forbidden.begin(), start.forbidden.end());
  std::optional<int64_t> recorded;
  if (sidecar_.recorded_place) recorded = sidecar_.recorded_place(*this, id);
  SimConnectLine* const line = sidecar_.connect_line();
  stream.repeatable = start.repeatable;
  if (recorded.has_value()) {
    stream.endpoint = sidecar_.endpoints().OpenRecorded(*recorded);
  } else if (line == nullptr || !line->busy()) {
    stream.endpoint = Open(stream).value_or(-1);
  }
  stream.start = clock().elapsed();
  stream.previous_attempts = start.previous_attempts;
  stream.timeout = start.told - clock().now();
  active_.push_back(id);
  sidecar_.CountAttempt();
  if (stream.endpoint >= 0) {
    Play(id, sidecar_.endpoints().Serve(stream.endpoint, *this, id));
  } else if (line == nullptr || !line->Join(*this, id, start)) {
    Play(id, Answer().CannotConnect(absl::ZeroDuration(), sidecar_.connect_failure));
  }
  return id;
}

// Opens an endpoint for an attempt, one at which no other of the call runs if there is any.
std::optional<int64_t> SimHost::Open(const Stream& stream) {
  absl::InlinedVector<int64_t, 4> avoid(stream.avoid.begin(), stream.avoid.end());
  for (const AttemptId running : active_) {
    if (&At(running) != &stream) avoid.push_back(At(running).endpoint);
  }
  return sidecar_.endpoints().Open(avoid, stream.forbidden,
                                   {.repeatable = stream.repeatable, .stream = call_->is_stream()});
}

bool SimHost::Connect(AttemptId id) {
  Stream& stream = At(id);
  const std::optional<int64_t> endpoint = Open(stream);
  if (!endpoint.has_value()) return false;
  stream.endpoint = *endpoint;
  stream.timeout -= clock().elapsed() - stream.start;
  stream.start = clock().elapsed();
  Play(id, sidecar_.endpoints().Serve(stream.endpoint, *this, id));
  return true;
}

void SimHost::FailToConnect(AttemptId id, std::optional<Instant> held_since) {
  std::string reason = sidecar_.connect_failure;
  if (held_since) reason = WaitedForConnection(clock().now() - *held_since, reason);
  EndLeaving(id, OutcomeOfNoConnection(std::move(reason)));
}

// Returns the stream of the next attempt: one of an earlier call, if there is one.
SimHost::Stream& SimHost::AddStream() {
  if (static_cast<size_t>(attempts_) == streams_.size()) {
    streams_.emplace_back();
  } else {
    Stream& stream = At(attempts_ + 1);
    std::destroy_at(&stream);
    std::construct_at(&stream);
  }
  return At(++attempts_);
}

void SimHost::Play(AttemptId id, Answer answer) {
  Stream& stream = At(id);
  stream.window = answer.window();
  stream.answer = std::move(answer);
  PlayNext(id);
}

void SimHost::PlayNext(AttemptId id) {
  const Stream& stream = At(id);
  if (stream.step == stream.answer.steps().size()) return;
  const Instant when = SimClock::Start() + stream.start + stream.answer.TimeOf(stream.step);
  clock().At(when, [this, generation = generation_, id] {
    if (generation != generation_) return;
    Stream& playing = At(id);
    const Answer::Step& step = playing.answer.steps()[playing.step++];
    PlayNext(id);
    Deliver(id, step);
  });
}

void SimHost::SendRequest(AttemptId id, const Chunk& chunk, bool end) {
  Stream& stream = Named(id);
  LEVEE_CHECK(!stream.over() && !stream.end_queued);
  LEVEE_CHECK(committed_ == 0);
  stream.end_queued = end;
  stream.queue.push_back({chunk, end});
  Forward(id);
}

// Moves to the upstream what its window allows.
void SimHost::Forward(AttemptId id) {
  Stream& stream = At(id);
  while (!stream.queue.empty() && !stream.over()) {
    Piece& piece = stream.queue.front();
    const size_t bytes = std::min(piece.chunk.size() - piece.taken, stream.window);
    const char* from = reinterpret_cast<const char*>(piece.chunk.data()) + piece.taken;
    if (bytes > 0) stream.received.append(from, bytes);
    piece.taken += bytes;
    stream.window -= bytes;
    if (piece.taken < piece.chunk.size()) break;
    stream.half_closed = piece.end;
    stream.queue.erase(stream.queue.begin());
  }
  // The bytes that the call has credited already were in the replay buffer.
  if (id == committed_) caller_.credited = std::max(caller_.credited, stream.received.size());
}

AttemptPlace SimHost::PlaceOf(const Stream& stream) const {
  return {.endpoint = stream.endpoint,
          .other_endpoint = sidecar_.endpoints().HasOther(stream.endpoint, stream.forbidden)};
}

// The attempt does not run on its endpoint any more.
void SimHost::LeaveEndpoint(Stream& stream) {
  if (stream.endpoint < 0) return;
  sidecar_.endpoints().Release(stream.endpoint);
  if (sidecar_.connect_line() != nullptr) sidecar_.connect_line()->OnEnd();
}

// It began to answer, or its end was a success.
void SimHost::NoteAnswer(const Stream& stream) {
  sidecar_.endpoints().OnAnswer(stream.endpoint);
  if (sidecar_.connect_line() != nullptr) sidecar_.connect_line()->OnAnswer();
}

AttemptPlace SimHost::CancelAttempt(AttemptId id) {
  Stream& stream = Named(id);
  LEVEE_CHECK(!stream.over());
  const AttemptPlace place = PlaceOf(stream);
  stream.cancelled_at = clock().elapsed();
  stream.attempts_at_end = attempts_;
  active_.erase(std::find(active_.begin(), active_.end(), id));
  if (!stream.has_head && stream.endpoint >= 0 && !call_->is_stream()) {
    sidecar_.endpoints().OnGivenUp(stream.endpoint, *stream.cancelled_at - stream.start);
  }
  LeaveEndpoint(stream);
  if (sidecar_.connect_line() != nullptr) sidecar_.connect_line()->Leave(*this, id);
  if (stream.on_cancel) stream.on_cancel();
  return place;
}

void SimHost::JudgeAttempt(AttemptId id, bool success) {
  Stream& stream = Named(id);
  LEVEE_CHECK(stream.over() && !stream.judged.has_value());
  stream.judged = success;
  if (stream.endpoint < 0) return;
  if (success && !stream.has_head) NoteAnswer(stream);
  std::optional<absl::Duration> took;
  if (!call_->is_stream() && (stream.has_head || success)) {
    took = (stream.has_head ? stream.head_at : clock().elapsed()) - stream.start;
  }
  sidecar_.endpoints().OnAttemptEnded(stream.endpoint, success, took);
}

void SimHost::Commit(AttemptId id) {
  LEVEE_CHECK(committed_ == 0 && !Named(id).cancelled_at);
  for (const AttemptId running : active_) LEVEE_CHECK(running == id);
  committed_ = id;
  if (At(id).has_head) ForwardHead();
  Forward(id);
}

void SimHost::ForwardHead() {
  if (!caller_.head_at) caller_.head_at = clock().elapsed();
}

void SimHost::Deliver(AttemptId id, const Answer::Step& step) {
  using Kind = Answer::Step::Kind;
  if (At(id).over()) {
    ++At(id).dropped_events;
    return;
  }
  switch (step.kind) {
    case Kind::kInformational:
      return;  // Skipped, as the session does.
    case Kind::kHead:
      OnHead(id, step);
      return;
    case Kind::kMessage:
      OnMessage(id, step);
      return;
    case Kind::kTrailers:
      Fill(fields_, step.fields);
      EndWithTrailers(id);
      return;
    case Kind::kClosed:
      EndLeaving(id, OutcomeOfClose(step.close));
      return;
    case Kind::kNoConnection:
      LeaveEndpoint(At(id));
      At(id).endpoint = -1;
      EndLeaving(id, OutcomeOfNoConnection(step.bytes));
      return;
    case Kind::kReadOn:
      At(id).window += step.window;
      Forward(id);
      return;
  }
}

void SimHost::OnHead(AttemptId id, const Answer::Step& step) {
  Fill(fields_, step.fields);
  Stream& stream = At(id);
  switch (ReadAnswerHead(fields_, step.end, /*request=*/Metadata())) {
    case AnswerHead::kEnd:
      EndWithTrailers(id);
      return;
    case AnswerHead::kNotGrpc:
      EndLeaving(id, OutcomeOfHttp(fields_, WallClock));
      return;
    case AnswerHead::kBegin:
      stream.has_head = true;
      stream.head_at = clock().elapsed();
      NoteAnswer(stream);
      call_->OnHead(id, clock().now());
      if (committed_ == id) ForwardHead();
      return;
  }
}

void SimHost::OnMessage(AttemptId id, const Answer::Step& step) {
  // Each step is one message, whatever its bytes are.
  static const Chunk kMessage = ToChunk(std::string_view("\0\0\0\0", 5));
  call_->OnMessage(id, kMessage, clock().now());
  LEVEE_CHECK(At(id).has_head && committed_ == id);
  caller_.body.append(step.bytes);
}

// fields_ are the trailers.
void SimHost::EndWithTrailers(AttemptId id) {
  AttemptOutcome outcome = OutcomeOfTrailers(fields_, sidecar_.overload.honor, WallClock);
  last_trailers_.Swap(fields_);
  End(id, outcome);
}

// The attempt has no trailers.
void SimHost::EndLeaving(AttemptId id, AttemptOutcome outcome) {
  last_trailers_.Clear();
  End(id, outcome);
}

void SimHost::End(AttemptId id, AttemptOutcome& outcome) {
  Stream& stream = At(id);
  stream.ended_at = clock().elapsed();
  stream.attempts_at_end = attempts_;
  active_.erase(std::find(active_.begin(), active_.end(), id));
  last_ended_ = id;
  if (stream.endpoint >= 0 && ShowsLife(outcome)) sidecar_.endpoints().OnLife(stream.endpoint);
  LeaveEndpoint(stream);
  outcome.place = PlaceOf(stream);
  const absl::Duration wait = WaitAskedFor(outcome);
  if (wait > absl::ZeroDuration()) sidecar_.endpoints().OnWaitAskedFor(stream.endpoint, wait);
  if (outcome.kind == AttemptOutcome::Kind::kUnsent) sidecar_.UncountAttempt();
  call_->OnAttemptEnd(id, outcome, clock().now());
}

// The network's host has the trailers of the last attempt that ended only, and forwards them behind
// the head and the body of the one that the call is committed to.
void SimHost::CheckAnswerOf(const FinalStatus& status) {
  if (status.attempt != 0) LEVEE_CHECK(Named(status.attempt).over());
  if (!status.forward_trailers) return;
  LEVEE_CHECK(status.attempt == last_ended_ && status.attempt == committed_);
}

StoredAnswerPtr SimHost::KeepAnswer(const FinalStatus& status) {
  LEVEE_CHECK(sidecar_.policy.dedupe.has_value() && committed_ != 0);
  CheckAnswerOf(status);
  AnswerWriter answer;
  answer.AddBody(caller_.body);
  return answer.End(status.code, last_trailers_);
}

void SimHost::Finish(const FinalStatus& status, const CallRecord& record) {
  LEVEE_CHECK(!finished() && active_.empty() && timer_at_.is_infinite());
  CheckAnswerOf(status);
  caller_.finished_at = clock().elapsed();
  caller_.code = status.code;
  caller_.guard = record.guard;
  if (status.attempt != last_ended_) last_trailers_.Clear();
  caller_.pushback = status.pushback;
  // Of the calls of a workload nobody reads the answer. Writing it costs more than all else.
  if (sidecar_.keeps_calls() || (on_finish_ && sidecar_.answers_are_read)) WriteAnswer(status);
  if (sidecar_.keeps_calls()) record_ = record;
  sidecar_.CountCall(record);
  if (on_finish_) on_finish_(caller_);
  clock().After(absl::ZeroDuration(), [this] {
    call_.reset();
    if (sidecar_.keeps_calls()) return;
    Clear();
    sidecar_.Reuse(*this);
  });
}

void SimHost::WriteAnswer(const FinalStatus& status) {
  if (status.replay != nullptr) {
    caller_.body = status.replay->body();
    status.replay->AppendTrailers(caller_.trailers);
  } else {
    WriteFinalAnswer(status, last_trailers_, caller_.head_at.has_value() ? "" : "application/grpc",
                     caller_.trailers);
  }
  caller_.trailers.Remove(":status");
  caller_.trailers.Remove("content-type");
  caller_.message = PercentDecode(caller_.trailers.Get("grpc-message"));
}

void SimCaller::Clear() {
  head_at.reset();
  body.clear();
  finished_at.reset();
  code = StatusCode::kUnknown;
  message.clear();
  pushback.reset();
  trailers.Clear();
  sent.clear();
  credited = 0;
}

// Makes the host ready for another call.
void SimHost::Clear() {
  ++generation_;
  on_finish_.Reset();
  attempts_ = 0;
  committed_ = last_ended_ = 0;
  caller_.Clear();
  timer_at_ = Instant::Infinite();
}

void SimHost::CreditRequest(size_t bytes) {
  LEVEE_CHECK(!finished());
  caller_.credited += bytes;
  LEVEE_CHECK(caller_.credited <= caller_.sent.size());
}

int SimHost::Endpoints() const { return sidecar_.endpoints().size(); }

CallKin SimHost::Kin() const {
  LEVEE_CHECK(!finished());
  if (origin_.trace != 0) return {.hash = absl::HashOf(origin_.trace), .traced = true};
  if (origin_.connection != 0) return {.hash = absl::HashOf(origin_.connection)};
  return {.hash = absl::HashOf(this, generation_)};
}

// The network's host ends the call. Tests and simulations are to show the fault.
void SimHost::OnBroken(const char* what) { CheckFailed(what, __FILE__, __LINE__); }

std::string SimHost::EndpointName(int64_t endpoint) const {
  return sidecar_.endpoints().NameOf(endpoint);
}

void SimHost::SetTimer(Instant when) {
  LEVEE_CHECK(!finished());
  timer_at_ = when;
  if (when < next_look_) Arm(when);
}

void SimHost::Arm(Instant when) {
  next_look_ = std::max(when, clock().now());
  clock().At(next_look_, [this] {
    if (clock().now() == next_look_) Look();
  });
}

void SimHost::Look() {
  next_look_ = Instant::Infinite();
  if (clock().now() < timer_at_) {
    Arm(timer_at_);
    return;
  }
  timer_at_ = Instant::Infinite();
  call_->OnTimer(clock().now());
}

}  // namespace levee
