#include "server/rpc_stream.h"

#include <utility>

#include "server/reply.h"

namespace levee {
namespace {

CallParts MakeParts(CallHost& host, RpcEnvironment& environment, const CallPlan& plan) {
  return {.host = host,
          .policy = *plan.policy,
          .overload = plan.snapshot->overload,
          .budget = *plan.destination->budget,
          .worker = environment.worker,
          .random = environment.random,
          .replay = environment.replay,
          .upstream = plan.destination->upstream->name,
          .endpoints = plan.destination->pool->size()};
}

}  // namespace

RpcStream::RpcStream(RpcEnvironment& environment, RpcOwner& owner, std::shared_ptr<CallPlan> plan,
                     h2::Stream& downstream, Metadata& request)
    : environment_(environment),
      owner_(owner),
      plan_(std::move(plan)),
      downstream_(&downstream),
      call_(MakeParts(*this, environment, *plan_)),
      attempt_(*this) {
  request_.Swap(request);
}

void RpcStream::Start(const RequestFacts& facts, bool request_ended) {
  environment_.series.active_calls.Add(1);
  call_.Start(facts, now());
  if (request_ended) Request(Chunk(), true);
}

void RpcStream::EndForDrain() { call_.OnDrainTimeout(now()); }

void RpcStream::Request(const Chunk& chunk, bool end) {
  if (committed_) {
    attempt_.SendRequest(chunk, end);
  } else {
    call_.OnRequest(chunk, end);
  }
}

void RpcStream::OnData(const Chunk& data) { Request(data, false); }

void RpcStream::OnEnd(Metadata*) { Request(Chunk(), true); }

void RpcStream::OnSent(size_t bytes) { attempt_.Credit(bytes); }

void RpcStream::OnClosed(const h2::StreamEnd&) {
  downstream_ = nullptr;
  call_.OnCallerGone(now());
}

AttemptId RpcStream::StartAttempt(const AttemptStart& start) {
  head_waits_ = false;
  trailers_.Clear();
  forwarded_ = 0;
  attempt_.Start(*plan_->destination->pool, request_, start, plan_->snapshot->overload.honor);
  return ++attempt_id_;
}

void RpcStream::SendRequest(AttemptId, const Chunk& chunk, bool end) {
  attempt_.SendRequest(chunk, end);
}

AttemptPlace RpcStream::CancelAttempt(AttemptId) {
  const AttemptPlace place = attempt_.place();
  attempt_.Cancel();
  return place;
}

void RpcStream::Commit(AttemptId) {
  committed_ = true;
  if (head_waits_) ForwardHead();
  CreditForwarded();
}

void RpcStream::ForwardHead() {
  head_waits_ = false;
  if (downstream_ == nullptr) return;
  downstream_->head().Swap(response_head_);
  downstream_->SendHead(/*end=*/false);
  head_sent_ = true;
}

void RpcStream::CreditRequest(size_t bytes) {
  credited_ += bytes;
  if (downstream_ != nullptr) downstream_->Credit(bytes);
}

void RpcStream::CreditForwarded() {
  // What was credited as it went into the replay buffer must not be credited again.
  if (forwarded_ > credited_) CreditRequest(forwarded_ - credited_);
}

void RpcStream::OnAttemptHead(Metadata& head) {
  response_head_.Swap(head);
  head_waits_ = true;
  call_.OnHead(attempt_id_, now());
  if (committed_ && head_waits_) ForwardHead();
}

void RpcStream::OnAttemptData(const Chunk& data) {
  call_.OnMessage(attempt_id_);
  if (downstream_ != nullptr) downstream_->SendData(data, false);
}

void RpcStream::OnAttemptSent(size_t bytes) {
  forwarded_ += bytes;
  if (committed_) CreditForwarded();
}

void RpcStream::OnAttemptEnded(const AttemptOutcome& outcome, Metadata& trailers) {
  trailers_.Swap(trailers);
  call_.OnAttemptEnd(attempt_id_, outcome, now());
}

void RpcStream::SetTimer(Instant when) {
  // Most timers are moved or dropped before they are due, so a timer that fires too early and is
  // then armed again is cheaper than one that is moved each time.
  timer_at_ = when;
  if (when < Timer::when()) environment_.io.wheel.Arm(*this, when);
}

void RpcStream::OnTimer(Instant now) {
  if (now >= timer_at_) {
    call_.OnTimer(now);
  } else {
    environment_.io.wheel.Arm(*this, timer_at_);
  }
}

void RpcStream::Finish(const FinalStatus& status, const CallRecord& record) {
  Timer::Unlink();
  if (downstream_ != nullptr) {
    ReplyFinal(*downstream_, status, trailers_, head_sent_);
    // The rest of the request, if any, is dropped; what is queued of the answer still leaves.
    std::exchange(downstream_, nullptr)->Detach();
  }
  Record(record);
  owner_.OnRpcFinished(*this);
}

void RpcStream::Record(const CallRecord& record) {
  environment_.series.active_calls.Sub(1);
  CallPlan& plan = *plan_;
  // While no endpoint can be reached nobody knows which methods exist, and paths that a caller
  // makes up must not use the labels up.
  const bool answered = !record.attempts.empty() && record.attempts.back().endpoint >= 0;
  if (!plan.labelled && answered && record.code != StatusCode::kUnimplemented) {
    plan.method = &environment_.metrics.LabelMethod(environment_.worker,
                                                    plan.destination->upstream->name, plan.path);
    plan.labelled = true;
  }
  RecordCall(*plan.method, *plan.destination->series, environment_.series, record);
}

}  // namespace levee
