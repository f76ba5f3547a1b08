// SPDX-License-Identifier: Apache-2.0
#include "net/http_get.h"

#include <utility>

#include "absl/strings/str_cat.h"

namespace levee::net {

HttpGet::HttpGet(EventLoop& loop, const Address& address, const std::string& path, Answer answer)
    : unsent_(absl::StrCat("GET ", path, " HTTP/1.0\r\nHost: ", address.ToString(), "\r\n\r\n")),
      answer_(std::move(answer)),
      socket_(loop, ByteStream::Dial(address), *this) {}

void HttpGet::OnBytes(ByteSpan bytes, const Chunk&) {
  received_.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

void HttpGet::OnWritable() {
  const size_t written =
      socket_.Write({reinterpret_cast<const uint8_t*>(unsent_.data()), unsent_.size()});
  unsent_.erase(0, written);
}

void HttpGet::OnClosed(const std::string&) {
  const Answer answer = std::move(answer_);
  answer(BodyOf(received_));
}

std::optional<std::string> BodyOf(const std::string& answer) {
  const size_t head_end = answer.find("\r\n\r\n");
  const bool ok = answer.starts_with("HTTP/1.") && answer.find(" 200 ") == 8;
  if (!ok || head_end == std::string::npos) return std::nullopt;
  return answer.substr(head_end + 4);
}

}  // namespace levee::net
