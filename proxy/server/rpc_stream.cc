// SPDX-License-Identifier: Apache-2.0
#include "server/rpc_stream.h"

#include <algorithm>
#include <utility>

#include "absl/hash/hash.h"
#include "base/check.h"
#include "base/uuid.h"
#include "insight/recent_calls.h"
#include "net/event_loop.h"
#include "server/application_doors.h"
#include "server/plan_parts.h"
#include "server/reply.h"
#include "server/request_head.h"
#include "server/worker.h"
#include "wire/content_type.h"
#include "wire/percent_encoding.h"
#include "wire/priority.h"
#include "wire/retry_report.h"
#include "wire/traceparent.h"

namespace levee {

RpcStream::RpcStream(RpcEnvironment& environment, Worker& worker, std::shared_ptr<CallPlan> plan,
                     const ConnectionOrigin& origin, h2::Stream& downstream, Metadata& request)
    : environment_(environment),
      worker_(worker),
      plan_(std::move(plan)),
      origin_(&origin),
      downstream_(&downstream),
      call_(PartsOf(*this, environment, *plan_, origin)),
      attempts_(*this, environment.random, hop()) {
  request_.Swap(request);
}

void RpcStream::Start(RequestFacts facts, UnreportedCalls& unreported, bool request_ended) {
  environment_.series.active_calls.Add(1);
  if (call_.is_stream()) environment_.series.active_streams.Add(1);
  const CallPolicy& policy = *plan_->features.calls.policy;
  for (const RateLimitPolicy& limit : policy.rate_limits) {
    rate_keys_.push_back(KeyOf(limit.key, request_, plan_->routed_by, origin_->identity));
  }
  facts.rate_keys = rate_keys_;
  // All attempts are made from this head, so that the key is the same on each.
  if (!policy.key_header.empty() && LacksKey(request_, policy.key_header)) {
    request_.Set(policy.key_header, RandomUuid(environment_.random));
  }
  if (policy.guard.has_value()) {
    ReadPriority(facts);
    ReadReport(unreported);
  }
  // Read first: a tie may add a traceparent, which is not the caller's.
  const auto caller = plan_->traced ? TraceparentOf(request_) : std::nullopt;
  if (plan_->tie != nullptr) BeginTie(facts);
  if (plan_->traced) BeginTrace(caller);
  LimitKey dedupe_key;
  if (policy.dedupe.has_value()) dedupe_key = ReadDedupeKey(facts);
  facts.dedupe_key = dedupe_key.text();
  call_.Start(facts, now());
  if (call_.keyed()) recorder_ = std::make_unique<AnswerRecorder>(policy.dedupe->max_response);
  if (request_ended) Request(Chunk(), true);
}

// Returns the key with its scope; it is empty for a call without one.
LimitKey RpcStream::ReadDedupeKey(RequestFacts& facts) {
  const DedupePolicy& dedupe = *plan_->features.calls.policy->dedupe;
  facts.method = plan_->path;
  facts.dedupe_fault = DedupeFault(dedupe, request_);
  if (!facts.dedupe_fault.empty()) return LimitKey();
  facts.dedupe_owner = DedupeOwnerOf(dedupe, request_, plan_->routed_by, origin_->sender);
  return DedupeKeyOf(dedupe, request_, plan_->routed_by, origin_->identity);
}

void RpcStream::BeginTie(RequestFacts& facts) {
  const CallPolicy& policy = *plan_->features.calls.policy;
  tie_.emplace(environment_.ties, *plan_->snapshot->tie, *plan_->tie);
  if (plan_->inbound) {
    const std::string_view text =
        request_.Get(policy.guard.has_value() ? policy.guard->priority_header : kPriorityHeader);
    const bool readable = !text.empty() && ParsePriority(text).has_value();
    tie_->Serve(request_, std::min(facts.timeout, policy.timeout),
                readable ? text : std::string_view(), now());
    return;
  }
  tie_->Follow(request_, facts, now());
  if (tie_->CanBeCancelled()) worker_.OnFollows(*this);
}

std::optional<OverloadMark> RpcStream::EndTie(const FinalStatus& status, const CallRecord& record) {
  if (!tie_.has_value()) return std::nullopt;
  if (plan_->inbound) return tie_->EndServing(record.code, downstream_ == nullptr, now());
  if (record.code == StatusCode::kOk) return std::nullopt;
  if (status.marked != nullptr) {
    tie_->EndFollowing(status.marked->mark);
  } else if (status.forward_trailers) {
    constexpr HonoredSignals kOwn = {.error_info = false, .pushback = false};
    if (const auto mark = FindOverloadMark(trailers_, kOwn)) tie_->EndFollowing(*mark);
  }
  return std::nullopt;
}

void RpcStream::BeginTrace(const std::optional<Traceparent>& caller) {
  Random& random = environment_.random;
  if (caller.has_value()) {
    trace_ = CallTrace::Follow(*caller, random);
    return;
  }
  const std::optional<Traceparent> added = TraceparentOf(request_);
  trace_ = CallTrace::Begin(added.has_value() ? added->trace_id : NewTraceId(random),
                            plan_->snapshot->otlp->sample, random);
}

void RpcStream::EndTrace(const FinalStatus& status, const CallRecord& record) {
  const Destination& destination = *plan_->destination;
  const std::string message = MessageOf(status);
  const TracedCall call = {
      .path = plan_->path,
      .authority = plan_->routed_by,
      .listener = origin_->listener->name,
      .upstream = destination.upstream,
      .policy = plan_->features.calls.policy->name,
      .message = message,
      .trace_state = trace_->begun_here() ? std::string_view() : request_.Get(kTracestateHeader)};
  std::optional<CallSpans> spans = trace_->End(
      call, record, [&](int64_t endpoint) { return destination.pool->EndpointName(endpoint); },
      net::WallClock());
  if (!spans.has_value()) return;
  const auto count = static_cast<uint64_t>(spans->count());
  if (environment_.spans.Add(*std::move(spans))) return;
  environment_.series.spans_dropped.Add(count);
  environment_.series.limit_hits[Limit::kOtlpSpans].Add();
}

// A header that cannot be read changes nothing: it must not make calls fail.
void RpcStream::ReadPriority(RequestFacts& facts) {
  const GuardPolicy& guard = *plan_->features.calls.policy->guard;
  facts.priority = guard.default_priority;
  const std::string_view text = request_.Get(guard.priority_header);
  if (text.empty()) return;
  const std::optional<CallPriority> priority = ParsePriority(text);
  if (!priority.has_value()) {
    environment_.series.guard_headers_ignored[GuardHeader::kPriority].Add();
    return;
  }
  facts.priority = priority->number;
  if (priority->user.empty()) return;
  facts.user = HashOfUser(priority->user, absl::ToUnixSeconds(net::WallClock()) / 3600);
}

void RpcStream::ReadReport(UnreportedCalls& unreported) {
  unreported.Add(&plan_->guard.line->guard(), now());
  const std::string_view text = request_.Get(kRetriesHeader);
  if (text.empty()) return;
  if (const std::optional<RetryReport> report = ParseRetryReport(text)) {
    plan_->guard.line->Report(*report, unreported.Take(), now());
  } else {
    environment_.series.guard_headers_ignored[GuardHeader::kRetries].Add();
  }
}

size_t RpcStream::held_bytes() const {
  size_t bytes = call_.kept_bytes() + request_.held_bytes();
  if (downstream_ != nullptr) bytes += downstream_->held_bytes();
  attempts_.ForEachActive([&](const UpstreamAttempt& attempt) { bytes += attempt.held_bytes(); });
  return bytes;
}

void RpcStream::EndForMemory() {
  // Trailers would have to wait behind what is queued.
  h2::Stream* const begun = head_sent_ ? std::exchange(downstream_, nullptr) : nullptr;
  if (begun != nullptr) begun->Reset(kResetEnhanceYourCalm);
  call_.OnOutOfMemory(now());
}

void RpcStream::Request(const Chunk& chunk, bool end) {
  if (committed_ != nullptr) {
    call_.OnForwarded(chunk, end, now());
    committed_->attempt.SendRequest(chunk, end);
  } else {
    call_.OnRequest(chunk, end, now());
  }
}

void RpcStream::OnData(const Chunk& data) {
  request_bytes_ += data.size();
  Request(data, false);
}

void RpcStream::OnStream() {
  environment_.series.active_streams.Add(1);
  ListMethod();
}

// Later calls and other workers know what the call has taught its method.
void RpcStream::ListMethod() {
  const std::string& upstream = plan_->destination->upstream;
  if (environment_.methods.List(upstream, plan_->path, plan_->kind)) return;
  environment_.series.limit_hits[Limit::kMethodKinds].Add();
}

void RpcStream::NameGuardMethod() {
  GuardSide& planned = plan_->guard;
  planned.named = true;
  planned.method = planned.line->guard().NameMethod(plan_->path);
}

void RpcStream::OnEnd(Metadata*) { Request(Chunk(), true); }

void RpcStream::OnSent(size_t bytes) { committed_->attempt.Credit(bytes); }

void RpcStream::OnClosed(const StreamEnd&) {
  downstream_ = nullptr;
  call_.OnCallerGone(now());
  if (call_.finished()) return;
  own_origin_ = std::make_unique<ConnectionOrigin>(*origin_);
  origin_ = own_origin_.get();
}

const Hop& RpcStream::hop() const {
  return environment_.hops.Of(plan_->inbound ? Direction::kInbound : Direction::kEgress);
}

AttemptSlot* RpcStream::At(AttemptId id) {
  AttemptSlot* const slot = attempts_.Find(id);
  if (slot == nullptr) OnBroken("an attempt is named that the call does not have");
  return slot;
}

void RpcStream::OnBroken(const char* what) {
  environment_.series.broken_calls.Add();
  environment_.io.log.Write(EventKind::kCallBroken, [&] {
    return std::vector<LogField>{
        {"upstream", plan_->destination->upstream}, {"method", plan_->path}, {"reason", what}};
  });
  if (call_.finished() || std::exchange(broken_, true)) return;
  environment_.io.wheel.Arm(*this, now());
}

AttemptId RpcStream::StartAttempt(const AttemptStart& start) {
  AttemptStart elsewhere = start;
  absl::InlinedVector<int64_t, 4> avoid;
  if (plan_->features.calls.hedge != nullptr) {
    avoid.assign(start.avoid.begin(), start.avoid.end());
    attempts_.ForEachActive(
        [&](const UpstreamAttempt& attempt) { avoid.push_back(attempt.endpoint()); });
    elsewhere.avoid = avoid;
  }
  AttemptSlot& slot = attempts_.Take(*this, environment_.random, hop());
  slot.attempt.Start(++last_id_, *plan_->destination, request_, elsewhere,
                     plan_->snapshot->overload.honor, trace_.get());
  return last_id_;
}

void RpcStream::SendRequest(AttemptId id, const Chunk& chunk, bool end) {
  if (AttemptSlot* const slot = At(id)) slot->attempt.SendRequest(chunk, end);
}

AttemptPlace RpcStream::CancelAttempt(AttemptId id) {
  AttemptSlot* const slot = At(id);
  if (slot == nullptr) return {};
  const AttemptPlace place = slot->attempt.place();
  slot->attempt.Cancel();
  slot->active = false;
  return place;
}

void RpcStream::JudgeAttempt(AttemptId id, bool success) {
  if (AttemptSlot* const slot = At(id)) slot->attempt.Judge(success);
}

void RpcStream::Commit(AttemptId id) {
  AttemptSlot* const slot = At(id);
  if (slot == nullptr) return;
  committed_ = slot;
  if (committed_->head_waits) ForwardHead(*committed_);
  CreditForwarded();
}

void RpcStream::ForwardHead(AttemptSlot& slot) {
  slot.head_waits = false;
  if (recorder_ != nullptr) recorder_->OnHead(slot.head);
  if (downstream_ == nullptr) return;
  downstream_->head().Swap(slot.head);
  downstream_->SendHead(/*end=*/false);
  head_sent_ = true;
}

void RpcStream::CreditRequest(size_t bytes) {
  credited_ += bytes;
  if (downstream_ != nullptr) downstream_->Credit(bytes);
}

void RpcStream::CreditForwarded() {
  // Bytes that were credited as they went into the replay buffer must not be credited again.
  if (committed_->sent > credited_) CreditRequest(committed_->sent - credited_);
}

void RpcStream::OnAttemptHead(AttemptId id, Metadata& head) {
  AttemptSlot* const slot = At(id);
  if (slot == nullptr) return;
  slot->head.Swap(head);
  slot->head_waits = true;
  call_.OnHead(id, now());
  if (committed_ == slot && slot->head_waits) ForwardHead(*slot);
}

void RpcStream::OnAttemptData(AttemptId id, const Chunk& data) {
  call_.OnMessage(id, data, now());
  if (recorder_ != nullptr) recorder_->OnData(data);
  if (downstream_ == nullptr) {
    // The call goes on without its caller.
    if (AttemptSlot* const slot = At(id)) slot->attempt.Credit(data.size());
    return;
  }
  response_bytes_ += data.size();
  downstream_->SendData(data, false);
}

void RpcStream::OnAttemptSent(AttemptId id, size_t bytes) {
  AttemptSlot* const slot = At(id);
  if (slot == nullptr) return;
  slot->sent += bytes;
  if (committed_ == slot) CreditForwarded();
}

void RpcStream::OnAttemptEnded(AttemptId id, const AttemptOutcome& outcome, Metadata& trailers) {
  AttemptSlot* const slot = At(id);
  if (slot == nullptr) return;
  slot->active = false;
  last_ended_ = id;
  trailers_.Swap(trailers);
  call_.OnAttemptEnd(id, outcome, now());
}

CallKin RpcStream::Kin() const {
  const std::string_view trace_id = TraceIdOf(request_);
  if (trace_id.empty()) return {.hash = absl::HashOf(plan_->path, origin_->number)};
  return {.hash = absl::HashOf(plan_->path, trace_id), .traced = true};
}

void RpcStream::SetTimer(Instant when) {
  // Most timers are moved or dropped before they are due, so a timer that fires too early and is
  // then armed again is cheaper than one that is moved each time.
  timer_at_ = when;
  if (when < Timer::when()) environment_.io.wheel.Arm(*this, when);
}

void RpcStream::OnTimer(Instant now) {
  if (broken_) {
    call_.OnBroken(now);
  } else if (now >= timer_at_) {
    call_.OnTimer(now);
  } else {
    environment_.io.wheel.Arm(*this, timer_at_);
  }
}

StoredAnswerPtr RpcStream::KeepAnswer(const FinalStatus& status) {
  if (status.attempt != last_ended_) trailers_.Clear();
  return recorder_->End(status.code, trailers_);
}

void RpcStream::Finish(const FinalStatus& status, const CallRecord& record) {
  if (!broken_) {
    End(status, record);
    return;
  }
  // Nothing that the call says of itself is to be trusted.
  CallRecord broken = record;
  broken.code = StatusCode::kInternal;
  End({.code = StatusCode::kInternal, .message = Call::kBroken}, broken);
}

void RpcStream::End(const FinalStatus& status, const CallRecord& record) {
  Timer::Unlink();
  if (status.attempt != last_ended_) trailers_.Clear();
  // The reply uses the trailers up.
  Log(status, record);
  if (trace_ != nullptr) EndTrace(status, record);
  AddedTrailers added = {.mark = EndTie(status, record)};
  if (plan_->guard.line != nullptr && plan_->features.calls.policy->guard->load_report) {
    added.load = plan_->guard.line->guard().EndLoad(record.code != StatusCode::kOk, now());
  }
  if (downstream_ != nullptr && !head_sent_ && GoesElsewhere(*plan_, record)) {
    std::exchange(downstream_, nullptr)->Reset(kResetRefusedStream);
  } else if (downstream_ != nullptr) {
    const std::string_view type =
        head_sent_ ? std::string_view() : AnswerContentType(request_.Get("content-type"));
    if (status.replay != nullptr) {
      ReplyStored(*downstream_, *status.replay, added);
    } else {
      ReplyFinal(*downstream_, status, trailers_, type, added);
    }
    // The rest of the request, if any, is dropped; what is queued of the answer still leaves.
    std::exchange(downstream_, nullptr)->Detach();
  }
  Record(record);
  worker_.OnRpcFinished(*this);
}

void RpcStream::Record(const CallRecord& record) {
  environment_.series.active_calls.Sub(1);
  if (record.kind == CallKind::kStream) environment_.series.active_streams.Sub(1);
  CallPlan& plan = *plan_;
  if (!plan.kind.settled) ListMethod();
  const bool named = plan.guard.line == nullptr || plan.guard.named;
  if (!(plan.labelled && named) && ShowsMethod(record, head_sent_)) {
    if (!named) NameGuardMethod();
    plan.method = &environment_.metrics.LabelMethod(environment_.worker, plan.destination->upstream,
                                                    plan.path);
    plan.labelled = true;
  }
  RecordCall(*plan.method, *plan.destination->series, environment_.series, record);
  RecordRateLimits(plan.series.limits, record.rate_limit);
  if (plan.series.guard != nullptr) RecordGuard(*plan.series.guard, record.guard);
  if (record.dedupe.has_value()) plan.series.dedupe->calls[*record.dedupe].Add();
  if (record.shadow.has_value()) plan.series.shadow->calls[*record.shadow].Add();
}

std::string RpcStream::MessageOf(const FinalStatus& status) const {
  return status.forward_trailers ? PercentDecode(trailers_.Get("grpc-message"))
                                 : std::string(status.message);
}

void RpcStream::Log(const FinalStatus& status, const CallRecord& record) {
  const CallLog::Choice choice =
      environment_.log.Choose(plan_->snapshot->access_log.filter, record);
  if (choice.notable) TellDecisions(record);
  if (!choice) return;
  const Destination& destination = *plan_->destination;
  const std::string message = MessageOf(status);
  AccessLogFacts facts = FactsOf(*origin_, request_);
  std::string trace_id;
  if (trace_ != nullptr && trace_->begun_here()) {
    trace_id = TraceIdText(trace_->trace_id());
    facts.trace_id = trace_id;
  }
  facts.upstream = destination.upstream;
  facts.message = message;
  facts.request_bytes = request_bytes_;
  facts.response_bytes = status.replay != nullptr ? status.replay->body().size() : response_bytes_;
  const auto none_reached = [](const AttemptRecord& attempt) { return attempt.endpoint < 0; };
  if (choice.line && std::any_of(record.attempts.begin(), record.attempts.end(), none_reached)) {
    facts.unreached = destination.pool->UnreadyNames();
  }
  environment_.log.Write(choice, facts, record, [&](int64_t endpoint) {
    return destination.pool->EndpointName(endpoint);
  });
}

// Reports the decisions about a call that was retried, hedged, limited or refused.
void RpcStream::TellDecisions(const CallRecord& record) {
  const Destination& destination = *plan_->destination;
  if (record.refused == RefusalReason::kBudget) {
    environment_.refusal_watch.OnRefused(plan_->features.budget.budget, destination);
  } else if (record.guard.decision == GuardDecision::kRefused) {
    environment_.refusal_watch.OnRefused(plan_->guard.line, destination);
  }
  environment_.io.log.Write(EventKind::kCallDecided, [&] {
    return std::vector<LogField>{{"upstream", destination.upstream},
                                 {"method", plan_->path},
                                 {"code", StatusCodeName(record.code)},
                                 {"attempts", record.attempts.size()},
                                 {"reason", WhyOf(record)}};
  });
}

}  // namespace levee
