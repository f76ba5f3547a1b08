// SPDX-License-Identifier: Apache-2.0
// One HTTP GET.
#pragma once

#include <functional>
#include <string>

#include "absl/status/statusor.h"
#include "net/socket.h"

namespace levee::net {

// Runs until an answer came or it is destroyed; it has no time limit of its own. HTTP/1.0, so that
// the answer ends with the connection.
class HttpGet final : private SocketHandler {
 public:
  // Gets the body of a 200, or why there is none. May destroy the HttpGet.
  using Answer = std::function<void(absl::StatusOr<std::string> body)>;

  // An answer that is larger is not read to its end.
  static constexpr size_t kMaxBytes = size_t{64} << 20;

  HttpGet(EventLoop& loop, const Address& address, const std::string& path, Answer answer);

 private:
  void OnConnected() override { OnWritable(); }
  void OnBytes(ByteSpan bytes, const Chunk& shared) override;
  void OnWritable() override;
  void OnClosed(const std::string& reason) override;

  std::string unsent_;
  std::string received_;
  Answer answer_;
  Socket socket_;
};

// Returns the body of an HTTP answer with status 200. The error of any other says what came
// instead, also if the body has another length than its head promises.
absl::StatusOr<std::string> BodyOf(const std::string& answer);

}  // namespace levee::net
