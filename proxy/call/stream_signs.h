// SPDX-License-Identifier: Apache-2.0
// Whether a call is a stream: the one place that says so.
#pragma once

#include <cstdint>
#include <utility>

#include "absl/time/time.h"
#include "base/chunk.h"
#include "base/instant.h"
#include "policy/method_kind.h"
#include "wire/message_count.h"

namespace levee {

// A call is a stream if its method is one; else from the second message of its request or of its
// answer on; or once a message of its answer has come, and no trailers within kQuiet. A call of
// which nothing has come is no stream for all its waiting. A descriptor is never doubted.
//
// The answers teach the method its kind, since the service has given them: a stream, that its later
// calls are streams from their start, and a unary answer, that they are not. So a wrong guess ends
// with the next unary answer. A second message of a request alone teaches nothing of a method that
// is known to be unary: a caller can send it to any method. A value without clock; one thread.
class StreamSigns {
 public:
  // Trailers follow the message of a unary answer at once.
  static constexpr int64_t kQuietNanos = 100'000'000;
  static constexpr absl::Duration kQuiet = absl::Nanoseconds(kQuietNanos);

  // `method` outlives it.
  explicit StreamSigns(MethodKind& method) : method_(method), is_stream_(method.IsStream()) {}

  bool is_stream() const { return is_stream_; }

  // Whether the service has shown that the call is a stream, or would not have denied it yet. False
  // where nothing says so but a request of several messages, of a method that answers as unary.
  bool is_stream_for_service() const {
    return is_stream_ && (answers_as_stream_ || !method_.IsUnary());
  }

  // Until then it is not known whether the answer's message is all of it; Infinite: nothing is
  // awaited.
  Instant quiet_at() const { return quiet_at_; }

  const MessageCount& request() const { return request_; }
  const MessageCount& answer() const { return answer_; }

  // When the last piece came, in either direction; the beginning of time if none has.
  Instant last_piece() const { return last_; }

  // The following return whether the call turns out to be a stream by this.
  //
  // A piece of the request has come.
  bool OnRequest(const Chunk& piece, Instant now) {
    last_ = now;
    request_.Add(piece);
    return request_.IsStream() && TurnOut();
  }

  // A piece of the answer that the caller gets has come.
  bool OnAnswer(const Chunk& piece, Instant now) {
    last_ = now;
    answer_.Add(piece);
    if (method_.described()) return false;
    if (answer_.IsStream()) {
      method_.LearnSurely();
      return !answers_as_stream_ && OnStreamOfAnswers();
    }
    if (answers_as_stream_) return false;
    if (quiet_at_.is_infinite() && answer_.HasOne()) {
      quiet_at_ = Instant::FromNanos(now.nanos() + kQuietNanos);
    }
    return false;
  }

  // The call has waited, and others may have taught the method meanwhile.
  bool OnWaited() { return method_.IsStream() && TurnOut(); }

  // Time has passed.
  bool OnTime(Instant now) { return now >= quiet_at_ && OnStreamOfAnswers(); }

  // The service has ended the call with OK.
  void OnEnd() {
    quiet_at_ = Instant::Infinite();
    if (answers_as_stream_) return;
    if (!request_.IsStream()) {
      if (answer_.HasOne()) method_.Learn(CallKind::kUnary);
    } else if (!method_.known()) {
      method_.Learn(CallKind::kStream);
    }
  }

 private:
  bool TurnOut() {
    const bool denied = method_.described() && !method_.IsStream();
    return !denied && !std::exchange(is_stream_, true);
  }

  bool OnStreamOfAnswers() {
    quiet_at_ = Instant::Infinite();
    answers_as_stream_ = true;
    method_.Learn(CallKind::kStream);
    return TurnOut();
  }

  MethodKind& method_;
  MessageCount request_;
  MessageCount answer_;
  Instant last_;
  Instant quiet_at_ = Instant::Infinite();
  bool answers_as_stream_ = false;
  bool is_stream_;
};

}  // namespace levee
