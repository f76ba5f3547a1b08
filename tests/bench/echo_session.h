// SPDX-License-Identifier: Apache-2.0
// The server's side of one HTTP/2 connection that answers every gRPC call with its own request
// and the trailer `grpc-status: 0`. Bytes in, bytes out; it knows no socket.
#pragma once

#include <nghttp2/nghttp2.h>

#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <vector>

namespace levee::bench {

class EchoSession {
 public:
  EchoSession();
  EchoSession(const EchoSession&) = delete;
  EchoSession& operator=(const EchoSession&) = delete;
  ~EchoSession();

  // False when the connection has to be closed because its peer broke the protocol.
  bool Receive(std::span<const uint8_t> bytes);

  // Appends what is to be sent until `out` holds about `limit` bytes.
  void Emit(size_t limit, std::vector<uint8_t>& out);

  bool finished() const;

 private:
  struct Call {
    std::string body;
    size_t sent = 0;
  };
  struct Callbacks;  // The callbacks of nghttp2.

  Call* NewCall();
  void EndCall(Call* call);

  nghttp2_session* session_ = nullptr;
  // Calls are kept for later streams: the service must be cheap beside the proxies it serves.
  std::deque<Call> calls_;
  std::vector<Call*> unused_;
};

}  // namespace levee::bench
