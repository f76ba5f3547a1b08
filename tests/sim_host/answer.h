// What a simulated upstream does with one attempt.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "policy/retry_decision.h"
#include "wire/status.h"

namespace levee {

// A script: steps at spans after the attempt's start. Without a last step the upstream is silent.
// The steps that end an attempt carry the outcome that the network's host makes of the same event.
//
//   Answer().Head(1ms).Message(2ms, "pong").Trailers(3ms, StatusCode::kOk)
class Answer {
 public:
  using Fields = std::vector<std::pair<std::string, std::string>>;

  struct Step {
    enum class Kind { kInformational, kHead, kMessage, kReadOn, kEnd };
    Kind kind = Kind::kEnd;
    absl::Duration at;
    std::string bytes;       // kMessage
    size_t window = 0;       // kReadOn
    AttemptOutcome outcome;  // kEnd; pushback, mark and place are filled in by the host
    Fields trailers;         // kEnd; empty if the upstream sent none
  };

  // A 1xx head.
  Answer& Informational(absl::Duration at);
  // Response headers of a gRPC answer.
  Answer& Head(absl::Duration at);
  Answer& Message(absl::Duration at, std::string_view bytes);
  // The end of a gRPC answer; trailers-only if there was no Head before.
  Answer& Trailers(absl::Duration at, StatusCode code, std::string_view message = "",
                   const Fields& fields = {});
  // END_STREAM on DATA: a gRPC answer that ends without a status.
  Answer& EndWithoutStatus(absl::Duration at);
  // An answer that is not gRPC.
  Answer& Http(absl::Duration at, int http_status);
  // RST_STREAM with an HTTP/2 error code.
  Answer& Reset(absl::Duration at, uint32_t error_code);
  // A GOAWAY whose last-stream-id is below this stream.
  Answer& GoAwayExcluding(absl::Duration at);
  Answer& ConnectionLost(absl::Duration at);
  // The stream was never written to the connection.
  Answer& Unsent(absl::Duration at);
  Answer& CannotConnect(absl::Duration at);

  // Takes only so many bytes of the request, until it reads on.
  Answer& ReadOnly(size_t bytes);
  Answer& ReadOn(absl::Duration at, size_t bytes);

  const std::vector<Step>& steps() const { return steps_; }
  size_t window() const { return window_; }

 private:
  Step& Add(Step::Kind kind, absl::Duration at);
  Answer& End(absl::Duration at, AttemptOutcome::Kind kind, StatusCode code,
              std::string_view message);

  std::vector<Step> steps_;
  size_t window_ = SIZE_MAX;
};

// The answers that most tests need; each takes a millisecond.
Answer Ok(std::string_view body = "pong");
Answer TrailersOnly(StatusCode code, const Answer::Fields& fields = {});
Answer Silence();

}  // namespace levee
