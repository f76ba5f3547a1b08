// SPDX-License-Identifier: Apache-2.0
#include "net/http_get.h"

#include <cstdint>
#include <string_view>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/text.h"

namespace levee::net {
namespace {

// Whether a head that says how long the body is says `size`.
bool HasLength(std::string_view head, uint64_t size) {
  for (const absl::string_view line : absl::StrSplit(Abseil(head), "\r\n")) {
    const std::pair<absl::string_view, absl::string_view> field =
        absl::StrSplit(line, absl::MaxSplits(':', 1));
    uint64_t length = 0;
    if (absl::EqualsIgnoreCase(field.first, "content-length") &&
        absl::SimpleAtoi(absl::StripAsciiWhitespace(field.second), &length)) {
      return length == size;
    }
  }
  return true;
}

}  // namespace

HttpGet::HttpGet(EventLoop& loop, const Address& address, const std::string& path, Answer answer)
    : unsent_(absl::StrCat("GET ", path, " HTTP/1.0\r\nHost: ", address.ToString(), "\r\n\r\n")),
      answer_(std::move(answer)),
      socket_(loop, ByteStream::Dial(address), *this) {}

void HttpGet::OnBytes(ByteSpan bytes, const Chunk&) {
  if (received_.size() > kMaxBytes) return;
  received_.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

void HttpGet::OnWritable() {
  const size_t written =
      socket_.Write({reinterpret_cast<const uint8_t*>(unsent_.data()), unsent_.size()});
  unsent_.erase(0, written);
}

void HttpGet::OnClosed(const std::string& reason) {
  const Answer answer = std::move(answer_);
  if (received_.empty()) return answer(absl::UnavailableError(reason));
  if (received_.size() > kMaxBytes)
    return answer(absl::UnavailableError("the answer is too large"));
  answer(BodyOf(received_));
}

absl::StatusOr<std::string> BodyOf(const std::string& answer) {
  const size_t head_end = answer.find("\r\n\r\n");
  if (!answer.starts_with("HTTP/1.") || answer.find(' ') != 8 || head_end == std::string::npos) {
    return absl::UnavailableError("the answer is no HTTP");
  }
  const std::string_view code = std::string_view(answer).substr(9, 3);
  if (code != "200" || answer[12] != ' ') {
    const std::string_view line = std::string_view(answer).substr(0, answer.find('\r'));
    return absl::UnavailableError(absl::StrCat("HTTP status ", Abseil(line.substr(9))));
  }
  std::string body = answer.substr(head_end + 4);
  if (!HasLength(std::string_view(answer).substr(0, head_end), body.size())) {
    return absl::UnavailableError("the answer is cut short");
  }
  return body;
}

}  // namespace levee::net
