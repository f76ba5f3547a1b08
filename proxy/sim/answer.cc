// SPDX-License-Identifier: Apache-2.0
#include "sim/answer.h"

#include "base/check.h"
#include "wire/percent_encoding.h"

namespace levee {

const std::vector<Answer::Step>& Answer::steps() const {
  static const std::vector<Step> kNone;
  return steps_ == nullptr ? kNone : *steps_;
}

Answer::Step& Answer::Add(Step::Kind kind, absl::Duration at) {
  if (steps_ == nullptr) {
    steps_ = std::make_shared<std::vector<Step>>();
  } else if (steps_.use_count() > 1) {
    steps_ = std::make_shared<std::vector<Step>>(*steps_);
  }
  return steps_->emplace_back(Step{.kind = kind, .at = at});
}

Answer& Answer::Informational(absl::Duration at) {
  Add(Step::Kind::kInformational, at);
  return *this;
}

Answer& Answer::Head(absl::Duration at) {
  head_ = true;
  Fields& fields = Add(Step::Kind::kHead, at).fields;
  fields.reserve(3);  // Most answers are trailers-only: the status comes here as well.
  fields.emplace_back(":status", "200");
  fields.emplace_back("content-type", "application/grpc");
  return *this;
}

Answer& Answer::Message(absl::Duration at, std::string_view bytes) {
  Add(Step::Kind::kMessage, at).bytes = bytes;
  return *this;
}

Answer& Answer::Trailers(absl::Duration at, StatusCode code, std::string_view message,
                         const Fields& fields) {
  const bool head = head_;
  if (!head) Head(at);
  Step& step = head ? Add(Step::Kind::kTrailers, at) : steps_->back();
  step.end = true;
  step.fields.emplace_back("grpc-status", std::to_string(static_cast<int>(code)));
  if (!message.empty()) step.fields.emplace_back("grpc-message", PercentEncode(message));
  step.fields.insert(step.fields.end(), fields.begin(), fields.end());
  return *this;
}

Answer& Answer::EndWithoutStatus(absl::Duration at) {
  LEVEE_CHECK(head_);
  Add(Step::Kind::kTrailers, at);
  return *this;
}

Answer& Answer::Http(absl::Duration at, int http_status) {
  Step& step = Add(Step::Kind::kHead, at);
  step.end = true;
  step.fields = {{":status", std::to_string(http_status)}, {"content-type", "text/plain"}};
  return *this;
}

Answer& Answer::Close(absl::Duration at, const StreamEnd& end) {
  Add(Step::Kind::kClosed, at).close = end;
  return *this;
}

Answer& Answer::Reset(absl::Duration at, uint32_t error_code) {
  return Close(at, {.cause = StreamEnd::Cause::kReset, .error_code = error_code});
}

Answer& Answer::GoAwayExcluding(absl::Duration at, std::string_view text) {
  return Close(at, {.cause = StreamEnd::Cause::kExcluded, .goaway = text});
}

Answer& Answer::ConnectionLost(absl::Duration at) {
  return Close(at, {.cause = StreamEnd::Cause::kLost});
}

Answer& Answer::Unsent(absl::Duration at) {
  window_ = 0;
  return Close(at, {.cause = StreamEnd::Cause::kLost, .left = false});
}

Answer& Answer::CannotConnect(absl::Duration at, std::string_view reason) {
  window_ = 0;
  Add(Step::Kind::kNoConnection, at).bytes = reason;
  return *this;
}

Answer& Answer::ReadOnly(size_t bytes) {
  window_ = bytes;
  return *this;
}

Answer& Answer::ReadOn(absl::Duration at, size_t bytes) {
  Add(Step::Kind::kReadOn, at).window = bytes;
  return *this;
}

Answer Answer::After(absl::Duration delay) const {
  Answer later = *this;
  later.delay_ += delay;
  return later;
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
