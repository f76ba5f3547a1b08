// One HTTP GET to a loopback address.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "net/socket.h"

namespace levee::demo {

// Until an answer came or it is destroyed. HTTP/1.0, so that the connection's end is the answer's.
class HttpGet final : private net::SocketHandler {
 public:
  // The body of a 200; nullopt of any failure. May destroy the HttpGet.
  using Answer = std::function<void(std::optional<std::string> body)>;

  HttpGet(net::EventLoop& loop, const net::Address& address, const std::string& path,
          Answer answer);

 private:
  void OnConnected() override { OnWritable(); }
  void OnBytes(ByteSpan bytes, const Chunk& shared) override;
  void OnWritable() override;
  void OnClosed(const std::string& reason) override;

  std::string unsent_;
  std::string received_;
  Answer answer_;
  net::Socket socket_;
};

// The body of an HTTP answer with status 200.
std::optional<std::string> BodyOf(const std::string& answer);

}  // namespace levee::demo
