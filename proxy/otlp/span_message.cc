// SPDX-License-Identifier: Apache-2.0
#include "otlp/span_message.h"

#include <string>
#include <string_view>

#include "base/host_port.h"

namespace levee {
namespace {

using opentelemetry::proto::common::v1::AnyValue;
using opentelemetry::proto::trace::v1::ScopeSpans;
using opentelemetry::proto::trace::v1::Span;
using opentelemetry::proto::trace::v1::Status;

AnyValue& AddValue(std::string_view key, Span& to) {
  auto& attribute = *to.add_attributes();
  attribute.set_key(std::string(key));
  return *attribute.mutable_value();
}

void AddText(std::string_view key, std::string_view value, Span& to) {
  if (!value.empty()) AddValue(key, to).set_string_value(std::string(value));
}

void AddNumber(std::string_view key, int64_t value, Span& to) {
  AddValue(key, to).set_int_value(value);
}

// Returns the number of eight bytes, the most significant first.
std::string Bytes(uint64_t number) {
  std::string bytes(8, '\0');
  for (size_t i = bytes.size(); i > 0; number >>= 8) bytes[--i] = static_cast<char>(number & 0xff);
  return bytes;
}

// Adds HOST:PORT as two attributes; a text that is none, such as the path of a socket, as the host.
void AddServer(std::string_view text, Span& to) {
  const auto address = SplitHostPort(text);
  AddText("server.address", address.has_value() ? address->host : text, to);
  if (address.has_value()) AddNumber("server.port", address->port, to);
}

// Adds a span with all that calls and attempts have in common.
Span& AddSpan(const CallSpans& call, uint64_t id, StatusCode code, ScopeSpans& to) {
  Span& span = *to.add_spans();
  span.set_trace_id(Bytes(call.trace_id.high) + Bytes(call.trace_id.low));
  span.set_span_id(Bytes(id));
  span.set_trace_state(call.trace_state);
  span.set_name(call.method.empty() ? "unknown" : call.method);
  const size_t slash = call.method.rfind('/');
  const bool split = slash != std::string::npos;
  AddText("rpc.system", "grpc", span);
  AddText("rpc.service", split ? std::string_view(call.method).substr(0, slash) : "", span);
  AddText("rpc.method", split ? std::string_view(call.method).substr(slash + 1) : call.method,
          span);
  AddNumber("rpc.grpc.status_code", static_cast<int64_t>(code), span);
  return span;
}

void SetTimes(absl::Time start, absl::Time end, Span& span) {
  span.set_start_time_unix_nano(static_cast<uint64_t>(absl::ToUnixNanos(start)));
  span.set_end_time_unix_nano(static_cast<uint64_t>(absl::ToUnixNanos(end)));
}

void SetError(std::string_view message, Span& span) {
  span.mutable_status()->set_code(Status::STATUS_CODE_ERROR);
  span.mutable_status()->set_message(std::string(message));
}

// Whether the convention for servers takes the code for an error of the server. Others are the
// affair of the caller.
bool IsServersError(StatusCode code) {
  switch (code) {
    case StatusCode::kUnknown:
    case StatusCode::kDeadlineExceeded:
    case StatusCode::kUnimplemented:
    case StatusCode::kInternal:
    case StatusCode::kUnavailable:
    case StatusCode::kDataLoss:
      return true;
    default:
      return false;
  }
}

void AddCall(const CallSpans& call, ScopeSpans& to) {
  Span& span = AddSpan(call, call.id, call.code, to);
  if (call.parent_id != 0) span.set_parent_span_id(Bytes(call.parent_id));
  span.set_kind(Span::SPAN_KIND_SERVER);
  SetTimes(call.start, call.end, span);
  AddServer(call.authority, span);
  AddText("levee.upstream", call.upstream, span);
  AddText("levee.policy", call.policy, span);
  AddText("levee.listener", call.listener, span);
  AddNumber("levee.attempts", static_cast<int64_t>(call.attempts.size()), span);
  AddText("levee.refused", call.refused, span);
  if (call.mark.has_value()) AddText("levee.overload", OverloadScopeName(*call.mark), span);
  if (call.dedupe.has_value()) AddText("levee.dedupe", DedupeResultName(*call.dedupe), span);
  const bool given_up = call.code != StatusCode::kOk && !call.refused.empty();
  if (given_up || IsServersError(call.code)) SetError(call.message, span);
}

void AddAttempt(const CallSpans& call, size_t index, ScopeSpans& to) {
  const AttemptSpan& attempt = call.attempts[index];
  Span& span = AddSpan(call, attempt.id, attempt.code, to);
  span.set_parent_span_id(Bytes(call.id));
  span.set_kind(Span::SPAN_KIND_CLIENT);
  SetTimes(attempt.start, attempt.end, span);
  AddServer(attempt.endpoint, span);
  AddText("levee.upstream", call.upstream, span);
  AddNumber("levee.attempt", static_cast<int64_t>(index) + 1, span);
  if (attempt.trigger.has_value()) {
    AddText("levee.trigger", RetryTriggerName(*attempt.trigger), span);
    AddValue("levee.delay_ms", span).set_double_value(absl::ToDoubleMilliseconds(attempt.delay));
  }
  if (attempt.transparent) AddValue("levee.transparent", span).set_bool_value(true);
  if (attempt.mark.has_value()) AddText("levee.overload", OverloadScopeName(*attempt.mark), span);
  if (attempt.code != StatusCode::kOk && !attempt.given_up) {
    SetError(StatusCodeName(attempt.code), span);
  }
}

}  // namespace

void AddSpans(const CallSpans& call, ScopeSpans& to) {
  AddCall(call, to);
  for (size_t i = 0; i < call.attempts.size(); ++i) AddAttempt(call, i, to);
}

}  // namespace levee
