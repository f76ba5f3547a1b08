#include "server/upstream_attempt.h"

#include <charconv>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/text.h"
#include "net/event_loop.h"
#include "server/request_head.h"
#include "wire/overload_mark.h"
#include "wire/pushback.h"
#include "wire/retry_advice.h"
#include "wire/status.h"

namespace levee {
namespace {

constexpr std::string_view kGrpcStatus = "grpc-status";

int ParseHttpStatus(std::string_view text) {
  int status = 0;
  std::from_chars(text.data(), text.data() + text.size(), status);
  return status;
}

// Makes a head that carries a grpc-status, but another :status or content-type than gRPC's, one of
// gRPC: clients differ in which of them they believe.
void MakeGrpcHead(Metadata& head) {
  Metadata made;
  made.Add(":status", "200");
  made.Add("content-type", "application/grpc");
  for (size_t i = 0; i < head.size(); ++i) {
    const Metadata::Field field = head[i];
    if (field.name == ":status" || field.name == "content-type") continue;
    made.Add(field.name, field.value, field.never_index);
  }
  head.Swap(made);
}

}  // namespace

void UpstreamAttempt::Start(AttemptId id, Pool& pool, const Metadata& request,
                            const AttemptStart& start, const HonoredSignals& honor) {
  id_ = id;
  pool_ = &pool;
  request_ = &request;
  start_ = start;
  start_.avoid = start_.forbidden = {};  // They are not ours to keep.
  started_ = pool.now();
  honor_ = honor;
  stream_ = nullptr;
  endpoint_ = -1;
  request_ended_ = head_seen_ = false;
  unsent_.clear();
  pool.Open(*this, start.avoid, start.forbidden);
}

void UpstreamAttempt::OnOpened(h2::Stream& stream, int64_t endpoint) {
  stream_ = &stream;
  endpoint_ = endpoint;
  opened_ = pool_->now();
  // The time that it took to find a connection has gone from the caller's.
  start_.timeout -= opened_ - started_;
  WriteAttemptHead(*request_, start_, random_, stream.head());
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

void UpstreamAttempt::Cancel() {
  StreamUser::Withdraw();
  if (stream_ != nullptr && !head_seen_) pool_->OnGivenUp(endpoint_, pool_->now() - opened_);
  LetGo(kResetCancel);
  unsent_.clear();
}

void UpstreamAttempt::Judge(bool success) {
  if (success && !head_seen_) pool_->OnAnswer(endpoint_, pool_->now() - opened_);
  pool_->OnAttemptEnded(endpoint_, success);
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
    EndFailed(AttemptOutcome::Kind::kConnect, StatusCode::kUnavailable, reason);
    return;
  }
  EndForUpstream(StatusCode::kUnimplemented,
                 absl::StrCat("the call is addressed to this sidecar's own listener (", reason,
                              "): set the channel's authority, use grpc_proxy, or run with "
                              "--to HOST:PORT"));
}

void UpstreamAttempt::EndForUpstream(StatusCode code, std::string_view message) {
  Metadata trailers;
  if (!head_seen_) {
    trailers.Add(":status", "200");
    trailers.Add("content-type", "application/grpc");
  }
  trailers.Add(kGrpcStatus, absl::StrCat(static_cast<int>(code)));
  trailers.Add("grpc-message", PercentEncode(message));
  EndWithTrailers(trailers);
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
  const int http_status = ParseHttpStatus(head.Get(":status"));
  const bool grpc = http_status == 200 && IsGrpcContentType(head.Get("content-type"));
  if (end && head.Has(kGrpcStatus)) {
    // Even with another :status: a grpc-status, if present, rules.
    if (!grpc) MakeGrpcHead(head);
    EndWithTrailers(head);
  } else if (!grpc) {
    EndNotGrpc(http_status, head);
  } else if (end) {
    EndWithTrailers(head);
  } else {
    head_seen_ = true;
    // A caller's library would take an answer that we have to end for malformed.
    head.Remove("content-length");
    pool_->OnAnswer(endpoint_, pool_->now() - opened_);
    observer_.OnAttemptHead(id_, head);
  }
}

void UpstreamAttempt::OnData(const Chunk& data) { observer_.OnAttemptData(id_, data); }

void UpstreamAttempt::OnSent(size_t bytes) { observer_.OnAttemptSent(id_, bytes); }

void UpstreamAttempt::OnEnd(Metadata* trailers) {
  if (stream_->oversized()) {
    EndOversized();
    return;
  }
  Metadata none;
  EndWithTrailers(trailers != nullptr ? *trailers : none);
}

void UpstreamAttempt::EndWithTrailers(Metadata& trailers) {
  AttemptOutcome outcome;
  const std::string_view text = trailers.Get(kGrpcStatus);
  if (text.data() == nullptr) {
    outcome.code = StatusFromHttp(200);
    outcome.message = "the upstream ended the call without a grpc-status";
    trailers.Add(kGrpcStatus, absl::StrCat(static_cast<int>(outcome.code)));
    trailers.Add("grpc-message", PercentEncode(outcome.message));
  } else {
    outcome.code = ParseGrpcStatus(text).value_or(StatusCode::kUnknown);
  }
  if (outcome.code != StatusCode::kOk) {
    outcome.message = PercentDecode(trailers.Get("grpc-message"));
    outcome.pushback = ParsePushback(trailers);
    outcome.advice = ParseRetryAdvice(trailers, net::WallClock());
    outcome.mark = FindOverloadMark(trailers, honor_);
  }
  // An answer that is complete before the request is: the rest of it is not wanted any more.
  if (stream_ != nullptr && (!request_ended_ || stream_->queued_bytes() > 0)) {
    LetGo(kResetNoError);
  } else if (stream_ != nullptr) {
    std::exchange(stream_, nullptr)->Detach();
  }
  End(outcome, trailers);
}

void UpstreamAttempt::EndNotGrpc(int http_status, Metadata& head) {
  AttemptOutcome outcome;
  outcome.kind = AttemptOutcome::Kind::kHttp;
  outcome.http_status = http_status;
  outcome.code = StatusFromHttp(http_status);
  outcome.message = absl::StrCat("the upstream's answer is not gRPC: HTTP status ", http_status,
                                 ", content-type \"", Abseil(head.Get("content-type")), "\"");
  outcome.advice = ParseRetryAdvice(head, net::WallClock());
  LetGo(kResetCancel);
  Metadata none;
  End(outcome, none);
}

void UpstreamAttempt::OnClosed(const h2::StreamEnd& end) {
  stream_ = nullptr;
  using Cause = h2::StreamEnd::Cause;
  const bool refused = end.cause == Cause::kReset && end.error_code == kResetRefusedStream;
  if (!end.left) {
    EndFailed(AttemptOutcome::Kind::kUnsent, StatusCode::kUnavailable,
              "the connection was lost before the call left");
  } else if (refused || end.cause == Cause::kExcluded) {
    EndFailed(AttemptOutcome::Kind::kRefused, StatusCode::kUnavailable,
              refused ? "the upstream refused the stream" : "the upstream is going away");
  } else if (end.cause == Cause::kLost) {
    EndFailed(AttemptOutcome::Kind::kReset, StatusCode::kUnavailable,
              "the connection to the upstream was lost");
  } else {
    EndFailed(AttemptOutcome::Kind::kReset, StatusFromReset(end.error_code),
              absl::StrCat("the upstream reset the stream: ", Abseil(ResetName(end.error_code))));
  }
}

void UpstreamAttempt::EndFailed(AttemptOutcome::Kind kind, StatusCode code, std::string message) {
  AttemptOutcome outcome;
  outcome.kind = kind;
  outcome.code = code;
  outcome.message = std::move(message);
  Metadata none;
  End(outcome, none);
}

void UpstreamAttempt::End(AttemptOutcome& outcome, Metadata& trailers) {
  outcome.place.endpoint = endpoint_;
  // Only a failure asks where else the next attempt could go.
  if (outcome.code != StatusCode::kOk) outcome.place = place();
  observer_.OnAttemptEnded(id_, outcome, trailers);
}

}  // namespace levee
