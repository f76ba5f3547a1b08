// SPDX-License-Identifier: Apache-2.0
#include "cli/one_request.h"

#include <http_parser.h>
#include <sys/socket.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "base/host_port.h"
#include "base/text.h"
#include "cli/dial.h"

namespace levee {
namespace {

constexpr size_t kMaxAnswerBytes = 64 << 10;

// The answer as far as it has come.
class PartialAnswer {
 public:
  PartialAnswer() {
    http_parser_init(&parser_, HTTP_RESPONSE);
    parser_.data = this;
    http_parser_settings_init(&settings_);
    settings_.on_body = [](http_parser* parser, const char* bytes, size_t size) {
      static_cast<PartialAnswer*>(parser->data)->body_.append(bytes, size);
      return 0;
    };
    settings_.on_message_complete = [](http_parser* parser) {
      static_cast<PartialAnswer*>(parser->data)->complete_ = true;
      return 0;
    };
  }
  PartialAnswer(const PartialAnswer&) = delete;
  PartialAnswer& operator=(const PartialAnswer&) = delete;

  // Takes more bytes; none: the connection has ended. Returns false if this is no HTTP.
  bool Read(std::string_view bytes) {
    http_parser_execute(&parser_, &settings_, bytes.data(), bytes.size());
    return HTTP_PARSER_ERRNO(&parser_) == HPE_OK;
  }

  bool complete() const { return complete_; }
  unsigned status() const { return parser_.status_code; }
  std::string_view line() const { return std::string_view(body_).substr(0, body_.find('\n')); }

 private:
  http_parser parser_{};
  http_parser_settings settings_{};
  std::string body_;
  bool complete_ = false;
};

// Sends the request and waits for the answer. Returns OK if and only if its status is 2xx.
absl::Status AskOn(int connection, const OneRequest& wanted, const std::string& host) {
  const std::string request =
      absl::StrCat(wanted.method, " ", wanted.path, " HTTP/1.1\r\nHost: ", host,
                   "\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
  if (send(connection, request.data(), request.size(), MSG_NOSIGNAL) < 0) return SystemError();
  PartialAnswer answer;
  std::array<char, 4096> buffer;
  size_t total = 0;
  while (!answer.complete() && total < kMaxAnswerBytes) {
    const ssize_t size = recv(connection, buffer.data(), buffer.size(), 0);
    if (size < 0) return SystemError();
    total += static_cast<size_t>(size);
    const bool valid = answer.Read({buffer.data(), static_cast<size_t>(size)});
    if (!valid || (size == 0 && !answer.complete())) return absl::UnavailableError("no answer");
  }
  if (answer.status() / 100 == 2) return absl::OkStatus();
  const std::string line = absl::StrCat(answer.status(), " ", Abseil(answer.line()));
  return absl::UnavailableError(absl::StripAsciiWhitespace(line));
}

}  // namespace

absl::Status Ask(const OneRequest& request, absl::Duration timeout) {
  const std::optional<HostPort> address = SplitHostPort(request.address);
  if (!address.has_value()) {
    return absl::InvalidArgumentError(absl::StrCat("\"", request.address, "\" is not HOST:PORT"));
  }
  const std::string host(address->host);
  const absl::Status status = Within(timeout, [request, host, port = address->port] {
    return Connect(host, port, [&](int connection) { return AskOn(connection, request, host); });
  });
  if (status.ok()) return status;
  return absl::Status(status.code(),
                      absl::StrCat(request.address, request.path, ": ", status.message()));
}

}  // namespace levee
