// SPDX-License-Identifier: Apache-2.0
// A client that sends exactly the bytes it is told and returns exactly those that come back.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace levee {

// One TCP connection to 127.0.0.1. It waits as long as it takes.
class HttpClient {
 public:
  explicit HttpClient(uint16_t port);
  ~HttpClient();
  HttpClient(const HttpClient&) = delete;
  HttpClient& operator=(const HttpClient&) = delete;

  bool connected() const { return connected_; }
  void Send(std::string_view bytes);
  // Everything up to the end of the connection.
  std::string ReadAll();
  // The next bytes that come; empty if the end does.
  std::string ReadSome();
  // No more will be sent.
  void FinishSending();

 private:
  int fd_;
  bool connected_;
};

struct HttpAnswer {
  int status = 0;       // 0: none came
  std::string headers;  // status line included
  std::string body;
};

// Sends "<method> <path> HTTP/1.1" and whatever `more` adds to the headers. `host`: empty for none.
HttpAnswer Ask(uint16_t port, std::string_view method, std::string_view path,
               std::string_view more = {}, std::string_view host = "localhost");

// Splits what came back.
HttpAnswer ParseAnswer(const std::string& bytes);

}  // namespace levee
