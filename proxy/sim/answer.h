// SPDX-License-Identifier: Apache-2.0
// What a simulated upstream does with one attempt, as it would be seen on the wire.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "wire/status.h"
#include "wire/stream_end.h"

namespace levee {

// A script: steps at spans after the attempt's start. Without a step that ends it the upstream is
// silent. The steps say what comes over the connection; what that means for the call is for the
// host to read, with the functions of call/outcome.h that the network's host reads it with.
//
// Copies share their steps until one of them gets another, so a copy is cheap.
//
//   Answer().Head(1ms).Message(2ms, "pong").Trailers(3ms, StatusCode::kOk)
class Answer {
 public:
  using Fields = std::vector<std::pair<std::string, std::string>>;

  struct Step {
    enum class Kind {
      kInformational,  // a 1xx head
      kHead,           // response headers, `fields`; `end`: END_STREAM comes with them
      kMessage,        // DATA, `bytes`
      kTrailers,       // `fields`; empty: END_STREAM on DATA
      kClosed,         // the stream is closed, `close`
      kNoConnection,   // the endpoint turns out to be out of reach, `bytes` says why
      kReadOn,         // the upstream takes `window` more bytes of the request
    };
    Kind kind;
    absl::Duration at;  // without the delay of After
    bool end = false;
    std::string bytes;
    size_t window = 0;
    StreamEnd close;
    Fields fields;
  };

  // A 1xx head.
  Answer& Informational(absl::Duration at);
  // Response headers of a gRPC answer.
  Answer& Head(absl::Duration at);
  Answer& Message(absl::Duration at, std::string_view bytes);
  // The end of a gRPC answer; trailers-only if there was no Head before. `message` is unencoded.
  Answer& Trailers(absl::Duration at, StatusCode code, std::string_view message = "",
                   const Fields& fields = {});
  // END_STREAM on DATA: a gRPC answer that ends without a status. After Head.
  Answer& EndWithoutStatus(absl::Duration at);
  // An answer that is not gRPC.
  Answer& Http(absl::Duration at, int http_status);
  // RST_STREAM with an HTTP/2 error code.
  Answer& Reset(absl::Duration at, uint32_t error_code);
  // A GOAWAY whose last-stream-id is below this stream.
  // `text`: what the GOAWAY says; it outlives the answer.
  Answer& GoAwayExcluding(absl::Duration at, std::string_view text = {});
  Answer& ConnectionLost(absl::Duration at);
  // The stream was never written to the connection.
  Answer& Unsent(absl::Duration at);
  Answer& CannotConnect(absl::Duration at, std::string_view reason = "connection refused");

  // Takes only so many bytes of the request, until it reads on.
  Answer& ReadOnly(size_t bytes);
  Answer& ReadOn(absl::Duration at, size_t bytes);

  // The same answer, all of whose steps come that much later.
  Answer After(absl::Duration delay) const;

  const std::vector<Step>& steps() const;
  // When a step comes, since the attempt's start.
  absl::Duration TimeOf(size_t step) const { return delay_ + steps()[step].at; }
  size_t window() const { return window_; }

 private:
  Step& Add(Step::Kind kind, absl::Duration at);
  Answer& Close(absl::Duration at, const StreamEnd& end);

  std::shared_ptr<std::vector<Step>> steps_;  // nullptr: none
  absl::Duration delay_;
  size_t window_ = SIZE_MAX;
  bool head_ = false;
};

// The answers that most tests need; each takes a millisecond.
Answer Ok(std::string_view body = "pong");
Answer TrailersOnly(StatusCode code, const Answer::Fields& fields = {});
Answer Silence();

}  // namespace levee
