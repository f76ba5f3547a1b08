#include "sim_host/sim_host.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "sim_host/sim_sidecar.h"
#include "wire/overload_mark.h"
#include "wire/percent_encoding.h"
#include "wire/pushback.h"
#include "wire/retry_advice.h"

namespace levee {
namespace {

Chunk ToChunk(std::string_view bytes) {
  return Chunk::Copy({reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()});
}

}  // namespace

SimHost::SimHost(SimSidecar& sidecar, OnFinish on_finish)
    : sidecar_(sidecar), on_finish_(std::move(on_finish)) {
  call_.emplace(sidecar.Parts(*this));
}

SimClock& SimHost::clock() { return sidecar_.clock(); }

void SimHost::Start(RequestFacts facts) {
  rate_keys_.resize(sidecar_.policy.rate_limits.size());
  facts.rate_keys = rate_keys_;
  call_->Start(facts, clock().now());
}

void SimHost::Send(std::string_view bytes, bool end) {
  if (finished()) return;
  caller_.sent.append(bytes);
  const Chunk chunk = ToChunk(bytes);
  if (committed_ == 0) {
    call_->OnRequest(chunk, end, clock().now());
  } else {
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

AttemptId SimHost::StartAttempt(const AttemptStart& start) {
  LEVEE_CHECK(!finished() && committed_ == 0);
  LEVEE_CHECK(active_.empty() || sidecar_.policy.hedge.has_value());
  LEVEE_CHECK(start.timeout > absl::ZeroDuration());
  const auto id = static_cast<AttemptId>(streams_.size()) + 1;
  Stream& stream = streams_.emplace_back();
  std::vector<int64_t> avoid(start.avoid.begin(), start.avoid.end());
  for (const AttemptId running : active_) avoid.push_back(At(running).endpoint);
  stream.place = sidecar_.Pick(avoid);
  stream.endpoint = stream.place.endpoint;
  stream.start = clock().elapsed();
  stream.previous_attempts = start.previous_attempts;
  stream.timeout = start.timeout;
  stream.avoid.assign(start.avoid.begin(), start.avoid.end());
  active_.insert(id);
  sidecar_.CountAttempt();
  if (stream.endpoint < 0) {
    Play(id, Answer().CannotConnect(absl::ZeroDuration()));
  } else {
    Play(id, sidecar_.Serve(stream.endpoint, *this, id));
  }
  return id;
}

void SimHost::Play(AttemptId id, const Answer& answer) {
  At(id).window = answer.window();
  for (const Answer::Step& step : answer.steps()) {
    clock().After(step.at, [this, id, step] { Deliver(id, step); });
  }
}

void SimHost::SendRequest(AttemptId id, const Chunk& chunk, bool end) {
  Stream& stream = At(id);
  LEVEE_CHECK(active_.contains(id) && !stream.over() && !stream.end_queued);
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
    stream.queue.pop_front();
  }
  // What the call has credited already was in the replay buffer.
  if (id == committed_) caller_.credited = std::max(caller_.credited, stream.received.size());
}

AttemptPlace SimHost::CancelAttempt(AttemptId id) {
  Stream& stream = At(id);
  LEVEE_CHECK(active_.contains(id) && !stream.over());
  stream.cancelled_at = clock().elapsed();
  active_.erase(id);
  if (stream.on_cancel) stream.on_cancel();
  return stream.place;
}

void SimHost::Commit(AttemptId id) {
  LEVEE_CHECK(committed_ == 0 && !At(id).cancelled_at);
  for (const AttemptId running : active_) LEVEE_CHECK(running == id);
  committed_ = id;
  if (At(id).has_head) ForwardHead();
  Forward(id);
}

void SimHost::ForwardHead() {
  if (!caller_.head_at) caller_.head_at = clock().elapsed();
}

void SimHost::Deliver(AttemptId id, const Answer::Step& step) {
  Stream& stream = At(id);
  if (stream.over()) {
    ++stream.dropped_events;
    return;
  }
  switch (step.kind) {
    case Answer::Step::Kind::kInformational:
      return;  // Skipped, as the session does.
    case Answer::Step::Kind::kHead:
      stream.has_head = true;
      call_->OnHead(id, clock().now());
      if (committed_ == id) ForwardHead();
      return;
    case Answer::Step::Kind::kMessage:
      if (committed_ != id) call_->OnMessage(id, clock().now());
      LEVEE_CHECK(stream.has_head && committed_ == id);
      caller_.body.append(step.bytes);
      return;
    case Answer::Step::Kind::kReadOn:
      stream.window += step.window;
      Forward(id);
      return;
    case Answer::Step::Kind::kEnd:
      EndAttempt(id, step);
      return;
  }
}

void SimHost::EndAttempt(AttemptId id, const Answer::Step& step) {
  Stream& stream = At(id);
  stream.ended_at = clock().elapsed();
  active_.erase(id);
  last_ended_ = id;
  last_trailers_.Clear();
  for (const auto& [name, value] : step.trailers) last_trailers_.Add(name, value);
  AttemptOutcome outcome = step.outcome;
  outcome.place = stream.place;
  outcome.pushback = ParsePushback(last_trailers_);
  if (outcome.code != StatusCode::kOk) {
    outcome.advice = ParseRetryAdvice(last_trailers_, absl::UnixEpoch());
    outcome.mark = FindOverloadMark(last_trailers_, sidecar_.overload.honor);
  }
  if (outcome.kind == AttemptOutcome::Kind::kUnsent) sidecar_.UncountAttempt();
  call_->OnAttemptEnd(id, outcome, clock().now());
}

void SimHost::Finish(const FinalStatus& status, const CallRecord& record) {
  LEVEE_CHECK(!finished() && active_.empty());
  caller_.finished_at = clock().elapsed();
  caller_.code = status.code;
  Metadata& trailers = caller_.trailers;
  if (status.attempt != last_ended_) last_trailers_.Clear();
  if (status.forward_trailers || status.marked != nullptr) trailers.Swap(last_trailers_);
  if (status.marked != nullptr) ApplyOverloadMark(*status.marked, trailers);
  if (!trailers.Has("grpc-status")) {
    trailers.Add("grpc-status", std::to_string(static_cast<int>(status.code)));
    trailers.Add("grpc-message", PercentEncode(status.message));
    caller_.pushback = status.pushback;
  }
  caller_.message = PercentDecode(trailers.Get("grpc-message"));
  record_ = record;
  clock().After(absl::ZeroDuration(), [this] { call_.reset(); });
  if (on_finish_) on_finish_(caller_);
}

void SimHost::CreditRequest(size_t bytes) {
  caller_.credited += bytes;
  LEVEE_CHECK(caller_.credited <= caller_.sent.size());
}

void SimHost::SetTimer(Instant when) {
  timer_ = when;
  const int generation = ++timer_generation_;
  clock().At(when, [this, generation] {
    if (generation != timer_generation_ || finished()) return;
    timer_ = Instant::Infinite();
    call_->OnTimer(clock().now());
  });
}

}  // namespace levee
