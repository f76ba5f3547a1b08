// SPDX-License-Identifier: Apache-2.0
// Reads HTTP/1.1 requests that need no body.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "admin/http_message.h"
#include "base/chunk.h"

struct http_parser;

namespace levee {

// Takes the bytes of one connection until its first request has a head, or cannot become one that
// is answered. Knows no socket and no clock; one thread. The syntax is judged by http_parser.
class RequestReader {
 public:
  static constexpr size_t kMaxHeadBytes = 8192;
  static constexpr size_t kMaxHeaders = 63;
  static constexpr uint64_t kMaxBodyBytes = 1024;  // announced; no body is read

  enum class State : uint8_t {
    kMore,      // the head has not ended
    kComplete,  // request() is there
    kRefused,   // refusal() says why: 400, 413, 414 or 431
  };

  RequestReader();
  ~RequestReader();
  RequestReader(const RequestReader&) = delete;
  RequestReader& operator=(const RequestReader&) = delete;

  // Returns the state after these bytes. Bytes behind the head are ignored, and so are all after
  // kComplete and kRefused.
  State Read(ByteSpan bytes);

  const HttpRequest& request() const { return request_; }
  const HttpResponse& refusal() const { return refusal_; }

 private:
  struct Callbacks;

  void Refuse(int status, std::string why);
  void OnHead();
  void ReadTarget();

  const std::unique_ptr<http_parser> parser_;
  State state_ = State::kMore;
  size_t bytes_ = 0;
  std::string target_;
  bool in_value_ = false;  // whether the last header has begun its value
  HttpRequest request_;
  HttpResponse refusal_;
};

}  // namespace levee
