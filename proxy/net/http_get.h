// SPDX-License-Identifier: Apache-2.0
// One HTTP GET.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "net/socket.h"

namespace levee::net {

// Runs until an answer came or it is destroyed. HTTP/1.0, so that the answer ends with the
// connection.
class HttpGet final : private SocketHandler {
 public:
  // Gets the body of a 200, or nullopt after any failure. May destroy the HttpGet.
  using Answer = std::function<void(std::optional<std::string> body)>;

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

// Returns the body of an HTTP answer with status 200; nullopt for any other answer.
std::optional<std::string> BodyOf(const std::string& answer);

}  // namespace levee::net
