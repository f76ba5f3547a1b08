// SPDX-License-Identifier: Apache-2.0
#include "call/outcome.h"

#include <algorithm>
#include <charconv>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/text.h"
#include "base/utf8.h"
#include "wire/content_type.h"
#include "wire/overload_mark.h"
#include "wire/percent_encoding.h"
#include "wire/pushback.h"
#include "wire/retry_advice.h"
#include "wire/status.h"

namespace levee {
namespace {

constexpr std::string_view kGrpcStatus = "grpc-status";

int HttpStatusOf(const Metadata& head) {
  const std::string_view text = head.Get(":status");
  int status = 0;
  std::from_chars(text.data(), text.data() + text.size(), status);
  return status;
}

// Makes a head that carries a grpc-status, but another :status or content-type than gRPC's, one of
// gRPC: clients differ in which of them they believe.
void MakeGrpcHead(std::string_view content_type, Metadata& head) {
  Metadata made;
  made.Add(":status", "200");
  made.Add("content-type", content_type);
  for (size_t i = 0; i < head.size(); ++i) {
    const Metadata::Field field = head[i];
    if (field.name == ":status" || field.name == "content-type") continue;
    made.Add(field.name, field.value, field.never_index);
  }
  head.Swap(made);
}

AttemptOutcome Failure(AttemptOutcome::Kind kind, StatusCode code, std::string message) {
  AttemptOutcome outcome;
  outcome.kind = kind;
  outcome.code = code;
  outcome.message = std::move(message);
  return outcome;
}

// `text`: what its GOAWAY said.
std::string GoingAway(std::string_view text) {
  constexpr absl::string_view kGoingAway = "the upstream is going away";
  constexpr size_t kMostText = 100;
  if (text.empty()) return std::string(kGoingAway);
  return absl::StrCat(kGoingAway, ": ", Abseil(Utf8Beginning(text, kMostText)));
}

}  // namespace

AnswerHead ReadAnswerHead(Metadata& head, bool end, const Metadata& request) {
  const bool grpc = HttpStatusOf(head) == 200 && IsGrpcContentType(head.Get("content-type"));
  if (end && head.Has(kGrpcStatus)) {
    if (!grpc) MakeGrpcHead(AnswerContentType(request.Get("content-type")), head);
    return AnswerHead::kEnd;
  }
  if (!grpc) return AnswerHead::kNotGrpc;
  if (end) return AnswerHead::kEnd;
  // A caller's library would take an answer that we have to end for malformed.
  head.Remove("content-length");
  return AnswerHead::kBegin;
}

AttemptOutcome OutcomeOfTrailers(Metadata& trailers, const HonoredSignals& honor,
                                 WallClockRef wall_clock) {
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
    outcome.advice = ParseRetryAdvice(trailers, wall_clock());
    outcome.mark = FindOverloadMark(trailers, honor);
  }
  return outcome;
}

AttemptOutcome OutcomeOfHttp(const Metadata& head, WallClockRef wall_clock) {
  const int http_status = HttpStatusOf(head);
  AttemptOutcome outcome =
      Failure(AttemptOutcome::Kind::kHttp, StatusFromHttp(http_status),
              absl::StrCat("the upstream's answer is not gRPC: HTTP status ", http_status,
                           ", content-type \"", Abseil(head.Get("content-type")), "\""));
  outcome.http_status = http_status;
  outcome.advice = ParseRetryAdvice(head, wall_clock());
  return outcome;
}

AttemptOutcome OutcomeOfClose(const StreamEnd& end) {
  using Cause = StreamEnd::Cause;
  using Kind = AttemptOutcome::Kind;
  if (!end.left) {
    return Failure(Kind::kUnsent, StatusCode::kUnavailable,
                   "the connection was lost before the call left");
  }
  if (end.cause == Cause::kExcluded) {
    AttemptOutcome outcome =
        Failure(Kind::kRefused, StatusCode::kUnavailable, GoingAway(end.goaway));
    outcome.leaving = true;
    return outcome;
  }
  if (end.cause == Cause::kLost) {
    std::string message = "the connection to the upstream was lost";
    if (!end.goaway.empty()) absl::StrAppend(&message, "; ", GoingAway(end.goaway));
    return Failure(Kind::kReset, StatusCode::kUnavailable, std::move(message));
  }
  if (end.cause == Cause::kStalled) {
    return Failure(Kind::kReset, StatusCode::kUnavailable,
                   "the upstream took none of the call's bytes within limits.send_timeout");
  }
  if (end.cause == Cause::kReset && end.error_code == kResetRefusedStream) {
    return Failure(Kind::kRefused, StatusCode::kUnavailable, "the upstream refused the stream");
  }
  // grpc-go says no more of an answer that is larger than this side offers to take.
  const bool too_large = end.error_code == kResetInternalError;
  return Failure(Kind::kReset, StatusFromReset(end.error_code),
                 absl::StrCat("the upstream reset the stream: ", Abseil(ResetName(end.error_code)),
                              too_large ? ", as some do whose headers or trailers are larger than "
                                          "limits.metadata_bytes allows"
                                        : ""));
}

absl::Duration WaitAskedFor(const AttemptOutcome& outcome) {
  return std::max(outcome.pushback.delay, outcome.advice);
}

bool ShowsLife(const AttemptOutcome& outcome) {
  using Kind = AttemptOutcome::Kind;
  return outcome.kind == Kind::kStatus || outcome.kind == Kind::kHttp ||
         outcome.kind == Kind::kRefused;
}

AttemptOutcome OutcomeOfAttemptTimeout(const AttemptPlace& place) {
  AttemptOutcome outcome;
  outcome.kind = AttemptOutcome::Kind::kTimeout;
  outcome.code = StatusCode::kDeadlineExceeded;
  outcome.message = "attempt_timeout passed";
  outcome.place = place;
  return outcome;
}

AttemptOutcome OutcomeOfNoConnection(std::string reason) {
  return Failure(AttemptOutcome::Kind::kConnect, StatusCode::kUnavailable, std::move(reason));
}

}  // namespace levee
