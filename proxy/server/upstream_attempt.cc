// SPDX-License-Identifier: Apache-2.0
#include "server/upstream_attempt.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "call/final_answer.h"
#include "call/outcome.h"
#include "net/event_loop.h"
#include "policy/connect_gate.h"
#include "server/request_head.h"
#include "server/rpc_stream.h"
#include "wire/content_type.h"
#include "wire/retry_report.h"
#include "wire/status.h"

namespace levee {

void UpstreamAttempt::Start(AttemptId id, Destination& destination, const Metadata& request,
                            const AttemptStart& start, const HonoredSignals& honor,
                            const CallTrace* trace) {
  id_ = id;
  pool_ = destination.pool.get();
  retries_ = &destination.retries;
  request_ = &request;
  trace_ = trace;
  start_ = start;
  start_.avoid = start_.forbidden = {};  // They are not ours to keep.
  started_ = pool_->now();
  honor_ = honor;
  stream_ = nullptr;
  endpoint_ = -1;
  request_ended_ = head_seen_ = false;
  unsent_.clear();
  patient_until =
      PatientUntil(destination.connect->connect_wait, start.begun, start.deadline, started_);
  call = {.repeatable = start.repeatable, .stream = rpc_.is_stream()};
  pool_->Open(*this, start.avoid, start.forbidden);
}

void UpstreamAttempt::OnOpened(UpstreamConnection& connection, h2::Stream& stream,
                               int64_t endpoint) {
  stream_ = &stream;
  connection_ = &connection;
  endpoint_ = endpoint;
  opened_ = pool_->now();
  if (start_.deadline - opened_ < kLeastTimeout) {
    // Nothing leaves; the call ends at its deadline, which is about now.
    endpoint_ = -1;
    LetGo(kResetCancel);
    unsent_.clear();
    return;
  }
  WriteAttemptHead(*request_, start_, opened_, hop_, connection.secured(), trace_, random_,
                   stream.head());
  if (hop_.direction == Direction::kEgress && connection.MayReport(opened_)) {
    stream.head().Add(kRetriesHeader, RetryReportText(retries_->Report(opened_)));
  }
  const bool head_only = request_ended_ && unsent_.empty();
  stream.SendHead(head_only);
  for (const Chunk& chunk : unsent_) stream.SendData(chunk, false);
  if (request_ended_ && !head_only) stream.SendData(Chunk(), true);
  unsent_.clear();
}

void UpstreamAttempt::SendRequest(const Chunk& chunk, bool end) {
  request_ended_ = request_ended_ || end;
  if (stream_ != nullptr) {
    stream_->SendData(chunk, end);
  } else {
    AppendChunk(unsent_, chunk);
  }
}

void UpstreamAttempt::LetGo(uint32_t error_code) {
  if (stream_ != nullptr) std::exchange(stream_, nullptr)->Reset(error_code);
}

size_t UpstreamAttempt::held_bytes() const {
  size_t bytes = stream_ == nullptr ? 0 : stream_->held_bytes();
  for (const Chunk& chunk : unsent_) bytes += chunk.size();
  return bytes;
}

void UpstreamAttempt::Cancel() {
  StreamUser::Withdraw();
  if (stream_ != nullptr && !head_seen_ && !rpc_.is_stream()) {
    pool_->OnGivenUp(endpoint_, pool_->now() - opened_);
  }
  LetGo(kResetCancel);
  unsent_.clear();
}

void UpstreamAttempt::Judge(bool success) {
  if (success && !head_seen_) {
    head_seen_ = true;
    head_after_ = pool_->now() - opened_;
    pool_->OnAnswer(endpoint_);
  }
  std::optional<absl::Duration> took;
  if (head_seen_ && !rpc_.is_stream()) took = head_after_;
  pool_->OnAttemptEnded(endpoint_, success, took);
}

void UpstreamAttempt::Credit(size_t bytes) {
  if (stream_ != nullptr) stream_->Credit(bytes);
}

AttemptPlace UpstreamAttempt::place() const {
  return {.endpoint = endpoint_,
          .other_endpoint = pool_ != nullptr && pool_->HasOther(endpoint_, forbidden)};
}

void UpstreamAttempt::OnOpenFailed(const std::string& reason, bool to_self) {
  if (!to_self) {
    Fail(OutcomeOfNoConnection(reason));
    return;
  }
  EndForUpstream(StatusCode::kUnimplemented,
                 absl::StrCat("the call is addressed to this sidecar's own listener (", reason,
                              "): set the channel's authority, use grpc_proxy, or run with "
                              "--to HOST:PORT"));
}

void UpstreamAttempt::EndForUpstream(StatusCode code, std::string_view message) {
  Metadata none;
  Metadata answer;
  const std::string_view type =
      head_seen_ ? std::string_view() : AnswerContentType(request_->Get("content-type"));
  WriteFinalAnswer({.code = code, .message = message}, none, type, answer);
  EndWithTrailers(answer);
}

void UpstreamAttempt::EndOversized() {
  LetGo(kResetCancel);
  EndForUpstream(StatusCode::kInternal,
                 "the upstream's metadata is larger than limits.metadata_bytes or "
                 "limits.metadata_fields");
}

void UpstreamAttempt::OnHead(Metadata& head, bool end) {
  if (stream_->oversized()) {
    EndOversized();
    return;
  }
  switch (ReadAnswerHead(head, end, *request_)) {
    case AnswerHead::kEnd:
      EndWithTrailers(head);
      return;
    case AnswerHead::kNotGrpc:
      LetGo(kResetCancel);
      Fail(OutcomeOfHttp(head, net::WallClock));
      return;
    case AnswerHead::kBegin:
      head_seen_ = true;
      head_after_ = pool_->now() - opened_;
      pool_->OnAnswer(endpoint_);
      rpc_.OnAttemptHead(id_, head);
      return;
  }
}

void UpstreamAttempt::OnData(const Chunk& data) { rpc_.OnAttemptData(id_, data); }

void UpstreamAttempt::OnSent(size_t bytes) { rpc_.OnAttemptSent(id_, bytes); }

void UpstreamAttempt::OnEnd(Metadata* trailers) {
  if (stream_->oversized()) {
    EndOversized();
    return;
  }
  Metadata none;
  EndWithTrailers(trailers != nullptr ? *trailers : none);
}

void UpstreamAttempt::EndWithTrailers(Metadata& trailers) {
  AttemptOutcome outcome = OutcomeOfTrailers(trailers, honor_, net::WallClock);
  outcome.leaving = stream_ != nullptr && connection_->draining();
  // An answer that is complete before the request is: the rest of it is not wanted any more.
  if (stream_ != nullptr && (!request_ended_ || stream_->queued_bytes() > 0)) {
    LetGo(kResetNoError);
  } else if (stream_ != nullptr) {
    std::exchange(stream_, nullptr)->Detach();
  }
  End(outcome, trailers);
}

void UpstreamAttempt::OnClosed(const StreamEnd& end) {
  stream_ = nullptr;
  Fail(OutcomeOfClose(end));
}

void UpstreamAttempt::Fail(AttemptOutcome outcome) {
  Metadata none;
  End(outcome, none);
}

void UpstreamAttempt::End(AttemptOutcome& outcome, Metadata& trailers) {
  outcome.place.endpoint = endpoint_;
  // Only a failure asks where else the next attempt could go.
  if (outcome.code != StatusCode::kOk) {
    outcome.place = place();
    const absl::Duration wait = WaitAskedFor(outcome);
    if (wait > absl::ZeroDuration()) pool_->OnWaitAskedFor(endpoint_, wait);
    if (ShowsLife(outcome)) pool_->OnLife(endpoint_);
  }
  rpc_.OnAttemptEnded(id_, outcome, trailers);
}

}  // namespace levee
