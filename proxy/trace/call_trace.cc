// SPDX-License-Identifier: Apache-2.0
#include "trace/call_trace.h"

#include <algorithm>
#include <utility>

#include "base/utf8.h"

namespace levee {
namespace {

// Longer texts are cut to so many bytes: callers make them up.
constexpr size_t kTextBytes = 512;

// One span's numbers, and the overhead of its texts.
constexpr size_t kSpanBytes = 160;

// The random part of a trace id (W3C Trace Context, level 2): its last 56 bits.
constexpr int kRandomBits = 56;

// Returns `text` cut to kTextBytes, with '?' in place of each byte that belongs to no character.
std::string Text(std::string_view text) {
  std::string clean;
  clean.reserve(std::min(text.size(), kTextBytes));
  while (!text.empty()) {
    const size_t size = Utf8CharacterSize(text);
    if (clean.size() + std::max<size_t>(size, 1) > kTextBytes) break;
    if (size == 0) {
      clean += '?';
    } else {
      clean += text.substr(0, size);
    }
    text.remove_prefix(std::max<size_t>(size, 1));
  }
  return clean;
}

std::string_view RefusedBy(const CallRecord& record) {
  if (record.rate_limit.refused_by >= 0) return "rate_limit";
  if (record.guard.decision == GuardDecision::kRefused) return GuardReasonName(record.guard.reason);
  return record.refused.has_value() ? RefusalReasonName(*record.refused) : std::string_view();
}

// Returns the span without its id.
AttemptSpan SpanOf(const AttemptRecord& attempt, const CallRecord& record,
                   CallTrace::EndpointNames endpoint_name, absl::Time now) {
  AttemptSpan span;
  span.start = now - (record.end - attempt.start);
  span.end = now - (record.end - std::max(attempt.start, attempt.end));
  span.code = attempt.code;
  span.given_up = attempt.code == StatusCode::kCancelled && record.code != StatusCode::kCancelled;
  span.transparent = attempt.transparent;
  span.trigger = attempt.trigger;
  span.delay = attempt.delay;
  if (attempt.endpoint >= 0) span.endpoint = Text(endpoint_name(attempt.endpoint));
  span.mark = attempt.mark_received;
  return span;
}

}  // namespace

size_t CallSpans::bytes() const {
  size_t bytes = static_cast<size_t>(count()) * kSpanBytes;
  for (const std::string* text :
       {&trace_state, &method, &authority, &listener, &upstream, &policy, &message}) {
    bytes += text->size();
  }
  for (const AttemptSpan& attempt : attempts) bytes += attempt.endpoint.size();
  return bytes;
}

bool IsSampled(const TraceId& id, double sample) {
  constexpr auto kAll = static_cast<double>(uint64_t{1} << kRandomBits);
  const uint64_t part = id.low & ((uint64_t{1} << kRandomBits) - 1);
  return part >= static_cast<uint64_t>((1 - sample) * kAll);
}

CallTrace::CallTrace(const TraceId& id, uint64_t parent_id, bool sampled, Random& random)
    : trace_id_(id), parent_id_(parent_id), sampled_(sampled), seed_(random.Next()) {}

std::unique_ptr<CallTrace> CallTrace::Follow(const Traceparent& caller, Random& random) {
  if (!caller.sampled) return nullptr;
  return std::unique_ptr<CallTrace>(
      new CallTrace(caller.trace_id, caller.parent_id, /*sampled=*/true, random));
}

std::unique_ptr<CallTrace> CallTrace::Begin(const TraceId& id, double sample, Random& random) {
  return std::unique_ptr<CallTrace>(
      new CallTrace(id, /*parent_id=*/0, IsSampled(id, sample), random));
}

// The steps of splitmix64 (Vigna, 2015), which gives each number of a seed another result.
uint64_t CallTrace::SpanId(uint64_t number) const {
  constexpr uint64_t kStep = 0x9e3779b97f4a7c15;
  uint64_t id = seed_ + (number + 1) * kStep;
  id = (id ^ (id >> 30)) * 0xbf58476d1ce4e5b9;
  id = (id ^ (id >> 27)) * 0x94d049bb133111eb;
  id ^= id >> 31;
  return id == 0 ? kStep : id;  // An id of 0 would be invalid.
}

std::string CallTrace::AttemptTraceparent(uint32_t record) const {
  return TraceparentText({.trace_id = trace_id_,
                          .parent_id = AttemptSpanId(record),
                          .sampled = sampled_ || record > 0});
}

std::optional<CallSpans> CallTrace::End(const TracedCall& call, const CallRecord& record,
                                        EndpointNames endpoint_name, absl::Time now) const {
  const bool failed = record.code != StatusCode::kOk;
  if (!sampled_ && !failed && record.attempts.size() <= 1) return std::nullopt;
  CallSpans spans;
  spans.trace_id = trace_id_;
  spans.id = SpanId(0);
  spans.parent_id = parent_id_;
  spans.trace_state = Text(call.trace_state);
  spans.start = now - (record.end - record.start);
  spans.end = now;
  spans.method = Text(call.path.starts_with('/') ? call.path.substr(1) : call.path);
  spans.authority = Text(call.authority);
  spans.listener = Text(call.listener);
  spans.upstream = Text(call.upstream);
  spans.policy = Text(call.policy);
  spans.code = record.code;
  if (failed) spans.message = Text(call.message);
  spans.refused = RefusedBy(record);
  spans.mark = record.mark_sent;
  spans.dedupe = record.dedupe;
  for (const AttemptRecord& attempt : record.attempts) {
    const auto index = static_cast<uint32_t>(spans.attempts.size());
    spans.attempts.push_back(SpanOf(attempt, record, endpoint_name, now));
    spans.attempts.back().id = AttemptSpanId(index);
  }
  return spans;
}

}  // namespace levee
