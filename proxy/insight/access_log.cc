// SPDX-License-Identifier: Apache-2.0
#include "insight/access_log.h"

#include <algorithm>
#include <charconv>
#include <cstddef>

#include "base/json_text.h"

namespace levee {
namespace {

constexpr std::string_view kNull = "null";

template <typename Number>
void AppendNumber(Number number, std::string& to) {
  char text[24];
  const auto end = std::to_chars(text, text + sizeof text, number).ptr;
  to.append(text, static_cast<size_t>(end - text));
}

// Appends `thousandths`, 0 to 999, as three digits.
void AppendThousandths(int64_t thousandths, std::string& to) {
  to += {static_cast<char>('0' + thousandths / 100), static_cast<char>('0' + thousandths / 10 % 10),
         static_cast<char>('0' + thousandths % 10)};
}

// Appends `span` in milliseconds, with three decimals. A negative span counts as 0.
void AppendMs(absl::Duration span, std::string& to) {
  const int64_t micros = std::max<int64_t>(absl::ToInt64Microseconds(span), 0);
  AppendNumber(micros / 1000, to);
  to += '.';
  AppendThousandths(micros % 1000, to);
}

// Appends `text` as a JSON string. `text` must need no escapes: it is a name of Levee's own, or
// hexadecimal digits.
void AppendWord(std::string_view text, std::string& to) {
  to += '"';
  to += text;
  to += '"';
}

void AppendMember(std::string_view name, std::string_view text, std::string& to) {
  to += name;
  AppendJsonString(text, to);
}

// Appends `text` as a JSON string, or `null` if it is empty.
void AppendTextOrNull(std::string_view text, std::string& to) {
  if (text.empty()) {
    to += kNull;
  } else {
    AppendJsonString(text, to);
  }
}

std::string_view WithoutSlash(std::string_view path) {
  return path.starts_with('/') ? path.substr(1) : path;
}

}  // namespace

std::string_view AccessLogFormatter::Format(const AccessLogFacts& facts, const CallRecord& record,
                                            EndpointNames endpoint_name) {
  line_.clear();
  AppendTime(facts.start);
  line_ += R"(,"duration_ms":)";
  AppendMs(record.end - record.start, line_);
  AppendMember(R"(,"listener":)", facts.listener, line_);
  line_ += R"(,"peer":)";
  AppendTextOrNull(facts.peer, line_);
  line_ += R"(,"original_destination":)";
  AppendTextOrNull(facts.original_destination, line_);
  AppendMember(R"(,"upstream":)", facts.upstream, line_);
  AppendMember(R"(,"authority":)", facts.authority, line_);
  AppendMember(R"(,"method":)", WithoutSlash(facts.path), line_);
  line_ += R"(,"kind":)";
  AppendWord(CallKindName(record.kind), line_);
  line_ += R"(,"code":)";
  AppendWord(StatusCodeName(record.code), line_);
  AppendMember(R"(,"message":)", facts.message, line_);
  AppendAttempts(record, endpoint_name);
  AppendUnreached(facts.unreached);
  line_ += R"(,"refused":)";
  if (record.refused.has_value()) {
    AppendWord(RefusalReasonName(*record.refused), line_);
  } else {
    line_ += kNull;
  }
  line_ += R"(,"ended_by":)";
  if (record.ended_by.has_value()) {
    AppendWord(StreamBoundName(*record.ended_by), line_);
  } else {
    line_ += kNull;
  }
  AppendWaits(record);
  AppendMarks(record);
  AppendGuard(record.guard);
  line_ += R"(,"dedupe":)";
  if (record.dedupe.has_value()) {
    AppendWord(DedupeResultName(*record.dedupe), line_);
  } else {
    line_ += kNull;
  }
  line_ += R"(,"shadow":)";
  if (record.shadow.has_value()) {
    AppendWord(ShadowOutcomeName(*record.shadow), line_);
  } else {
    line_ += kNull;
  }
  line_ += R"(,"request_bytes":)";
  AppendNumber(facts.request_bytes, line_);
  line_ += R"(,"response_bytes":)";
  AppendNumber(facts.response_bytes, line_);
  line_ += R"(,"trace_id":)";
  AppendTextOrNull(facts.trace_id, line_);
  line_ += R"(,"sample":)";
  AppendNumber(facts.sample, line_);
  line_ += "}\n";
  return line_;
}

void AccessLogFormatter::AppendTime(absl::Time time) {
  const int64_t micros = absl::ToUnixMicros(time);
  const int64_t second = absl::ToUnixSeconds(time);
  if (second != second_) {
    second_ = second;
    second_text_ = absl::FormatTime("%Y-%m-%dT%H:%M:%S.", time, absl::UTCTimeZone());
  }
  const int64_t fraction = micros - second * 1'000'000;
  line_ += R"({"time":")";
  line_ += second_text_;
  AppendThousandths(fraction / 1000, line_);
  AppendThousandths(fraction % 1000, line_);
  line_ += R"(Z")";
}

void AccessLogFormatter::AppendAttempts(const CallRecord& record, EndpointNames endpoint_name) {
  line_ += R"(,"attempts":[)";
  int n = 0;
  for (const AttemptRecord& attempt : record.attempts) {
    line_ += n == 0 ? R"({"n":)" : R"(,{"n":)";
    AppendNumber(++n, line_);
    line_ += R"(,"endpoint":)";
    const std::string name = attempt.endpoint < 0 ? "" : endpoint_name(attempt.endpoint);
    AppendTextOrNull(name, line_);
    line_ += R"(,"start_ms":)";
    AppendMs(attempt.start - record.start, line_);
    line_ += R"(,"duration_ms":)";
    AppendMs(attempt.end - attempt.start, line_);
    line_ += R"(,"code":)";
    AppendWord(StatusCodeName(attempt.code), line_);
    line_ += R"(,"trigger":)";
    if (attempt.trigger.has_value()) {
      AppendWord(RetryTriggerName(*attempt.trigger), line_);
      line_ += R"(,"delay_ms":)";
      AppendMs(attempt.delay, line_);
    } else {
      line_ += R"(null,"delay_ms":null)";
    }
    line_ += '}';
  }
  line_ += ']';
}

void AccessLogFormatter::AppendUnreached(const std::vector<std::string>& unreached) {
  line_ += R"(,"unreached":)";
  if (unreached.empty()) {
    line_ += kNull;
    return;
  }
  char before = '[';
  for (const std::string& endpoint : unreached) {
    line_ += before;
    AppendJsonString(endpoint, line_);
    before = ',';
  }
  line_ += ']';
}

void AccessLogFormatter::AppendGuard(const GuardRecord& guard) {
  line_ += R"(,"guard":)";
  if (!guard.decision.has_value()) {
    line_ += kNull;
    return;
  }
  line_ += R"({"decision":)";
  AppendWord(GuardDecisionName(*guard.decision), line_);
  line_ += R"(,"reason":)";
  if (guard.decision == GuardDecision::kRefused) {
    AppendWord(GuardReasonName(guard.reason), line_);
  } else {
    line_ += kNull;
  }
  line_ += R"(,"priority":)";
  AppendNumber(guard.priority, line_);
  line_ += R"(,"waited_ms":)";
  AppendMs(guard.waited, line_);
  line_ += '}';
}

void AccessLogFormatter::AppendWaits(const CallRecord& record) {
  line_ += R"(,"waits":[)";
  for (const WaitRecord& wait : record.waits) {
    line_ += &wait == record.waits.data() ? R"({"after":)" : R"(,{"after":)";
    AppendNumber(wait.after, line_);
    line_ += R"(,"waited_ms":)";
    AppendMs(wait.waited, line_);
    line_ += R"(,"end":)";
    AppendWord(WaitEndName(wait.end), line_);
    line_ += '}';
  }
  line_ += ']';
}

void AccessLogFormatter::AppendMarks(const CallRecord& record) {
  line_ += R"(,"marks":[)";
  const size_t start = line_.size();
  const auto append = [&](std::string_view direction, OverloadScope scope) {
    if (line_.size() > start) line_ += ',';
    line_ += R"({"direction":)";
    AppendWord(direction, line_);
    line_ += R"(,"scope":)";
    AppendWord(OverloadScopeName(scope), line_);
    line_ += '}';
  };
  for (const AttemptRecord& attempt : record.attempts) {
    if (attempt.mark_received.has_value()) append("received", *attempt.mark_received);
  }
  if (record.mark_sent.has_value()) append("sent", *record.mark_sent);
  line_ += ']';
}

}  // namespace levee
