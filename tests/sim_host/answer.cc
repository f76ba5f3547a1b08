#include "sim_host/answer.h"

#include "wire/percent_encoding.h"

namespace levee {

Answer::Step& Answer::Add(Step::Kind kind, absl::Duration at) {
  Step& step = steps_.emplace_back();
  step.kind = kind;
  step.at = at;
  return step;
}

Answer& Answer::End(absl::Duration at, AttemptOutcome::Kind kind, StatusCode code,
                    std::string_view message) {
  AttemptOutcome& outcome = Add(Step::Kind::kEnd, at).outcome;
  outcome.kind = kind;
  outcome.code = code;
  outcome.message = message;
  return *this;
}

Answer& Answer::Informational(absl::Duration at) {
  Add(Step::Kind::kInformational, at);
  return *this;
}

Answer& Answer::Head(absl::Duration at) {
  Add(Step::Kind::kHead, at);
  return *this;
}

Answer& Answer::Message(absl::Duration at, std::string_view bytes) {
  Add(Step::Kind::kMessage, at).bytes = bytes;
  return *this;
}

Answer& Answer::Trailers(absl::Duration at, StatusCode code, std::string_view message,
                         const Fields& fields) {
  End(at, AttemptOutcome::Kind::kStatus, code, message);
  Fields& trailers = steps_.back().trailers;
  trailers.emplace_back("grpc-status", std::to_string(static_cast<int>(code)));
  if (!message.empty()) trailers.emplace_back("grpc-message", PercentEncode(message));
  trailers.insert(trailers.end(), fields.begin(), fields.end());
  return *this;
}

Answer& Answer::EndWithoutStatus(absl::Duration at) {
  return End(at, AttemptOutcome::Kind::kStatus, StatusCode::kUnknown, "no grpc-status");
}

Answer& Answer::Http(absl::Duration at, int http_status) {
  End(at, AttemptOutcome::Kind::kHttp, StatusFromHttp(http_status),
      "HTTP status " + std::to_string(http_status));
  steps_.back().outcome.http_status = http_status;
  return *this;
}

Answer& Answer::Reset(absl::Duration at, uint32_t error_code) {
  return End(at,
             error_code == kResetRefusedStream ? AttemptOutcome::Kind::kRefused
                                               : AttemptOutcome::Kind::kReset,
             StatusFromReset(error_code), ResetName(error_code));
}

Answer& Answer::GoAwayExcluding(absl::Duration at) {
  return End(at, AttemptOutcome::Kind::kRefused, StatusCode::kUnavailable, "GOAWAY");
}

Answer& Answer::ConnectionLost(absl::Duration at) {
  return End(at, AttemptOutcome::Kind::kReset, StatusCode::kUnavailable, "connection lost");
}

Answer& Answer::Unsent(absl::Duration at) {
  window_ = 0;
  return End(at, AttemptOutcome::Kind::kUnsent, StatusCode::kUnavailable, "never written");
}

Answer& Answer::CannotConnect(absl::Duration at) {
  window_ = 0;
  return End(at, AttemptOutcome::Kind::kConnect, StatusCode::kUnavailable, "connection refused");
}

Answer& Answer::ReadOnly(size_t bytes) {
  window_ = bytes;
  return *this;
}

Answer& Answer::ReadOn(absl::Duration at, size_t bytes) {
  Add(Step::Kind::kReadOn, at).window = bytes;
  return *this;
}

Answer Ok(std::string_view body) {
  return Answer()
      .Head(absl::Milliseconds(1))
      .Message(absl::Milliseconds(1), body)
      .Trailers(absl::Milliseconds(1), StatusCode::kOk);
}

Answer TrailersOnly(StatusCode code, const Answer::Fields& fields) {
  return Answer().Trailers(absl::Milliseconds(1), code, "", fields);
}

Answer Silence() { return {}; }

}  // namespace levee
