// SPDX-License-Identifier: Apache-2.0
#include "lab/recorded_calls.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "google/protobuf/util/json_util.h"
#include "lab/words.h"
#include "levee/lab/v1/access_log.pb.h"

namespace levee {
namespace {

namespace v1 = lab::v1;

// A log that is silent for so long, and for so many times its usual gap, has lost something.
constexpr absl::Duration kLongestGap = absl::Seconds(60);
constexpr int kGapFactor = 100;

absl::Status NotALine(const std::string& file, int line, absl::string_view reason) {
  return absl::InvalidArgumentError(
      absl::StrCat(file, ":", line, ": is no line of an access log: ", reason));
}

RecordedAttempt::Kind KindOf(std::string_view next_trigger) {
  if (next_trigger == "connect") return RecordedAttempt::Kind::kNoConnection;
  if (next_trigger == "reset") return RecordedAttempt::Kind::kLost;
  if (next_trigger == "refused") return RecordedAttempt::Kind::kRefusedStream;
  if (next_trigger == "timeout") return RecordedAttempt::Kind::kTimeout;
  return RecordedAttempt::Kind::kStatus;
}

// The log counts the marks of a call. They are given to its last attempts that failed.
void GiveMarks(const v1::LoggedCall& line, RecordedCall& call) {
  std::vector<std::string> scopes;
  for (const v1::LoggedCall::Mark& mark : line.marks()) {
    if (mark.direction() == "received") scopes.push_back(mark.scope());
  }
  for (auto attempt = call.attempts.rbegin(); attempt != call.attempts.rend() && !scopes.empty();
       ++attempt) {
    if (attempt->code == StatusCode::kOk) continue;
    attempt->mark = std::move(scopes.back());
    scopes.pop_back();
  }
}

void AddAttempts(const v1::LoggedCall& line, RecordedCall& call) {
  for (const v1::LoggedCall::Attempt& logged : line.attempts()) {
    if (!call.attempts.empty()) {
      RecordedAttempt& before = call.attempts.back();
      if (before.kind == RecordedAttempt::Kind::kStatus) before.kind = KindOf(logged.trigger());
    }
    RecordedAttempt& attempt = call.attempts.emplace_back();
    attempt.endpoint = logged.endpoint();
    attempt.start = absl::Milliseconds(logged.start_ms());
    attempt.took = absl::Milliseconds(logged.duration_ms());
    attempt.code = ParseStatusCode(logged.code()).value_or(StatusCode::kUnknown);
    if (attempt.endpoint.empty()) attempt.kind = RecordedAttempt::Kind::kNoConnection;
  }
  if (line.refused() == "committed" && !call.attempts.empty()) {
    call.attempts.back().committed = true;
  }
  GiveMarks(line, call);
}

absl::StatusOr<RecordedCall> ReadLine(const std::string& text) {
  v1::LoggedCall line;
  google::protobuf::util::JsonParseOptions options;
  options.ignore_unknown_fields = true;
  const auto read = google::protobuf::util::JsonStringToMessage(text, &line, options);
  if (!read.ok()) return absl::InvalidArgumentError("it is not whole JSON");
  RecordedCall call;
  std::string reason;
  if (!absl::ParseTime(absl::RFC3339_full, line.time(), &call.at, &reason)) {
    return absl::InvalidArgumentError("it has no time");
  }
  const auto code = ParseStatusCode(line.code());
  if (!code.has_value()) return absl::InvalidArgumentError("it has no code");
  call.code = *code;
  call.took = absl::Milliseconds(line.duration_ms());
  call.listener = line.listener();
  call.upstream = line.upstream();
  call.authority = line.authority();
  call.path = absl::StrCat("/", line.method());
  call.peer = line.peer();
  call.request_bytes = static_cast<size_t>(std::max<int64_t>(line.request_bytes(), 0));
  if (line.has_sample()) call.sample = line.sample();
  if (!(call.sample > 0 && call.sample <= 1)) {
    return absl::InvalidArgumentError("its sample is no share of calls");
  }
  AddAttempts(line, call);
  return call;
}

absl::Status RefuseGaps(const std::vector<RecordedCall>& calls) {
  const absl::Duration mean =
      (calls.back().at - calls.front().at) / static_cast<int64_t>(calls.size());
  for (size_t i = 1; i < calls.size(); ++i) {
    const absl::Duration gap = calls[i].at - calls[i - 1].at;
    if (gap <= kLongestGap || gap <= kGapFactor * mean) continue;
    return absl::InvalidArgumentError(absl::StrCat(
        "the log has a gap of ", DurationWords(gap), " from ",
        absl::FormatTime(absl::RFC3339_sec, calls[i - 1].at, absl::UTCTimeZone()),
        " on, where calls come every ", DurationWords(mean), "; replay the parts one by one"));
  }
  return absl::OkStatus();
}

absl::Status RefusePoor(const std::vector<RecordedCall>& calls) {
  if (calls.empty()) return absl::InvalidArgumentError("the log has no call");
  const bool attempts = std::any_of(
      calls.begin(), calls.end(), [](const RecordedCall& call) { return !call.attempts.empty(); });
  if (!attempts) {
    return absl::InvalidArgumentError(
        "no call of the log has attempts, so nothing is known of "
        "what endpoints answer");
  }
  const bool whole = std::any_of(calls.begin(), calls.end(), [](const RecordedCall& call) {
    return call.code == StatusCode::kOk && call.attempts.size() == 1;
  });
  if (!whole) {
    return absl::InvalidArgumentError(
        "no call of the log succeeded at once, so it has not all "
        "calls; say access_log: {when: [all]}");
  }
  return RefuseGaps(calls);
}

}  // namespace

const Route* RouteOf(const RecordedCall& call, const Snapshot& snapshot) {
  ListenerRef listener;
  for (size_t i = 0; i < snapshot.listeners.size(); ++i) {
    const ListenerSpec& each = snapshot.listeners[i];
    if (each.direction != Direction::kEgress) continue;
    listener.index = static_cast<int>(i);
    if (each.name == call.listener) break;
  }
  const Metadata unrecorded;
  return snapshot.routes.Find({.listener = listener,
                               .authority = call.authority,
                               .path = call.path,
                               .peer = call.peer,
                               .headers = unrecorded});
}

absl::StatusOr<std::vector<RecordedCall>> ReadRecordedCalls(const std::vector<ConfigText>& logs) {
  std::vector<RecordedCall> calls;
  for (const ConfigText& log : logs) {
    int number = 0;
    for (const absl::string_view text : absl::StrSplit(log.text, '\n')) {
      ++number;
      if (text.empty()) continue;
      absl::StatusOr<RecordedCall> call = ReadLine(std::string(text));
      if (!call.ok()) return NotALine(log.name, number, call.status().message());
      calls.push_back(*std::move(call));
    }
  }
  std::stable_sort(calls.begin(), calls.end(),
                   [](const RecordedCall& a, const RecordedCall& b) { return a.at < b.at; });
  const absl::Status poor = RefusePoor(calls);
  if (!poor.ok()) return poor;
  return calls;
}

}  // namespace levee
