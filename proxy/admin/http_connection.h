// SPDX-License-Identifier: Apache-2.0
// One connection of an HTTP server.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "absl/time/time.h"
#include "admin/http_message.h"
#include "admin/request_reader.h"
#include "base/timer_wheel.h"
#include "net/byte_stream.h"
#include "net/event_loop.h"

namespace levee {

// Reads one request, waits for its answer, sends it, and waits a moment for the client to close. A
// client that is too slow in any of these is disconnected. It lives in the loop's thread.
class HttpConnection final : private net::ReadyHandler, private Timer {
 public:
  // How long a client may take.
  struct Timeouts {
    absl::Duration head = absl::Seconds(2);        // to send its request
    absl::Duration answer = absl::Seconds(5);      // to take the answer, from its first byte
    absl::Duration end = absl::Milliseconds(500);  // to close
  };

  struct Events {
    std::function<void(HttpConnection& asked)> on_request;  // Send is called for it, now or later
    std::function<void(HttpConnection& ended)> on_end;      // destroys the connection
  };

  // `number` tells it from all others of its server. All references must outlive it. Nothing is
  // called from here.
  HttpConnection(net::EventLoop& loop, TimerWheel& wheel, net::ByteStream stream, uint64_t number,
                 const Events& events, const Timeouts& timeouts);

  uint64_t number() const { return number_; }

  // Valid after on_request, also if it was refused.
  const HttpRequest& request() const { return reader_.request(); }

  // Valid in on_request: the answer if the request is one that must not be looked at, else nullptr.
  const HttpResponse* refusal() const;

  // Sends the bytes of the answer; at most once.
  void Send(std::string answer);

  // Returns how many bytes of the answer the client has not taken.
  size_t unsent() const { return answer_.size() - sent_; }

 private:
  enum class State : uint8_t { kHead, kAnswering, kSending, kEnding };

  void OnReady(bool readable, bool writable) override;
  void OnTimer(Instant) override { events_.on_end(*this); }
  void ReadHead();
  void Write();
  void DropInput();

  net::EventLoop& loop_;
  TimerWheel& wheel_;
  net::ByteStream stream_;
  const uint64_t number_;
  const Events& events_;
  const Timeouts& timeouts_;
  RequestReader reader_;
  State state_ = State::kHead;
  std::string answer_;
  size_t sent_ = 0;
  size_t dropped_ = 0;
  net::EventLoop::Watch watch_;
};

}  // namespace levee
