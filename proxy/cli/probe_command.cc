// SPDX-License-Identifier: Apache-2.0
#include "cli/probe_command.h"

#include <http_parser.h>
#include <sys/socket.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "base/host_port.h"
#include "base/text.h"
#include "cli/dial.h"

namespace levee {
namespace {

constexpr size_t kMaxAnswerBytes = 64 << 10;

struct Target {
  std::string host;
  uint16_t port;
  std::string path;
};

// The answer as far as it has come.
class Answer {
 public:
  Answer() {
    http_parser_init(&parser_, HTTP_RESPONSE);
    parser_.data = this;
    http_parser_settings_init(&settings_);
    settings_.on_body = [](http_parser* parser, const char* bytes, size_t size) {
      static_cast<Answer*>(parser->data)->body_.append(bytes, size);
      return 0;
    };
    settings_.on_message_complete = [](http_parser* parser) {
      static_cast<Answer*>(parser->data)->complete_ = true;
      return 0;
    };
  }
  Answer(const Answer&) = delete;
  Answer& operator=(const Answer&) = delete;

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

// Sends the request and waits for the answer. Returns OK if and only if the answer is 200.
absl::Status AskOn(int connection, const Target& target) {
  const std::string request = absl::StrCat("GET ", target.path, " HTTP/1.1\r\nHost: ", target.host,
                                           "\r\nConnection: close\r\n\r\n");
  if (send(connection, request.data(), request.size(), MSG_NOSIGNAL) < 0) return SystemError();
  Answer answer;
  std::array<char, 4096> buffer;
  size_t total = 0;
  while (!answer.complete() && total < kMaxAnswerBytes) {
    const ssize_t size = recv(connection, buffer.data(), buffer.size(), 0);
    if (size < 0) return SystemError();
    total += static_cast<size_t>(size);
    const bool valid = answer.Read({buffer.data(), static_cast<size_t>(size)});
    if (!valid || (size == 0 && !answer.complete())) return absl::UnavailableError("no answer");
  }
  if (answer.status() == 200) return absl::OkStatus();
  const std::string line = absl::StrCat(answer.status(), " ", Abseil(answer.line()));
  return absl::UnavailableError(absl::StripAsciiWhitespace(line));
}

}  // namespace

absl::StatusOr<std::string> Probe(const ProbeOptions& options, absl::Duration timeout) {
  const std::optional<HostPort> address = SplitHostPort(options.address);
  if (!address.has_value()) {
    return absl::InvalidArgumentError(absl::StrCat("\"", options.address, "\" is no HOST:PORT"));
  }
  const Target target = {.host = std::string(address->host),
                         .port = address->port,
                         .path = options.ready ? "/readyz" : "/healthz"};
  const absl::Status status = Within(timeout, [target] {
    return Connect(target.host, target.port,
                   [&target](int connection) { return AskOn(connection, target); });
  });
  if (status.ok()) return options.ready ? "ready" : "healthy";
  return absl::Status(status.code(),
                      absl::StrCat(options.address, target.path, ": ", status.message()));
}

int RunProbe(const ProbeOptions& options) {
  const auto answer = Probe(options, kProbeTimeout);
  if (!answer.ok()) {
    std::fprintf(stderr, "levee: %s\n", std::string(answer.status().message()).c_str());
    return 1;
  }
  std::printf("%s\n", answer->c_str());
  return 0;
}

}  // namespace levee
