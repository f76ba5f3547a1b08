// SPDX-License-Identifier: Apache-2.0
// A client that sends exactly the bytes it is told and returns exactly those that come back.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "absl/time/time.h"

namespace levee {

// One TCP connection to 127.0.0.1. A test that expects an answer fails after twenty seconds
// without.
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
  // The bytes that come within `milliseconds`; empty if nothing or the end has.
  std::string ReadSome(int milliseconds);
  // No more will be sent.
  void FinishSending();
  // The other side has ended the connection, or does so within `milliseconds`. Its further output
  // is thrown away.
  bool Ended(int milliseconds);

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

// Returns the result of `scene` the first time that it takes less than `limit`. On a busy machine
// it is run again, since a slow run there proves nothing. A failure if it never does within 20 s.
std::string Within(absl::Duration limit, const std::function<std::string()>& scene);

// Splits what came back.
HttpAnswer ParseAnswer(const std::string& bytes);

}  // namespace levee
