// SPDX-License-Identifier: Apache-2.0
// The client's side of one HTTP/2 connection that makes unary gRPC calls. Bytes in, bytes out; it
// knows no socket and no clock.
#pragma once

#include <nghttp2/nghttp2.h>

#include <chrono>
#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <vector>

namespace levee::bench {

// A call that ended.
struct EndedCall {
  std::chrono::nanoseconds due;  // When it was to begin, as given to Begin().
  bool good;                     // The whole message came back with grpc-status 0.
};

class CallerSession {
 public:
  // Every call goes to `path` with `message`, a gRPC message with its prefix. Both must outlive
  // this.
  CallerSession(const std::string& path, const std::string& message);
  CallerSession(const CallerSession&) = delete;
  CallerSession& operator=(const CallerSession&) = delete;
  ~CallerSession();

  // Begins a call. It waits inside while the peer allows no more streams.
  void Begin(std::chrono::nanoseconds due);

  // False when the connection has to be closed because its peer broke the protocol.
  bool Receive(std::span<const uint8_t> bytes);

  // Appends all that is to be sent.
  void Emit(std::vector<uint8_t>& out);

  // Returns the calls that ended since the last time.
  std::vector<EndedCall> TakeEnded();

 private:
  struct Call {
    std::chrono::nanoseconds due{};
    size_t sent = 0;
    size_t received = 0;
    bool ok = false;  // The trailer says so.
  };
  struct Callbacks;  // The callbacks of nghttp2.

  Call& NewCall();

  const std::string& path_;
  const std::string& message_;
  nghttp2_session* session_ = nullptr;
  std::vector<EndedCall> ended_;
  // Calls are kept for later streams: the caller must be cheap beside the proxies that it measures.
  std::deque<Call> calls_;
  std::vector<Call*> unused_;
};

}  // namespace levee::bench
