// SPDX-License-Identifier: Apache-2.0
#include "cli/probe_command.h"

#include <http_parser.h>
#include <netdb.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <future>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "base/host_port.h"
#include "base/text.h"

namespace levee {
namespace {

constexpr size_t kMaxAnswerBytes = 64 << 10;

struct Target {
  std::string host;
  uint16_t port;
  std::string path;
};

// Owns a descriptor.
class Socket {
 public:
  explicit Socket(const addrinfo& to) : fd_(socket(to.ai_family, to.ai_socktype, 0)) {}
  ~Socket() {
    if (fd_ >= 0) close(fd_);
  }
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;

  int fd() const { return fd_; }

 private:
  const int fd_;
};

absl::Status SystemError() {
  return absl::UnavailableError(std::generic_category().message(errno));
}

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
absl::Status AskAt(const addrinfo& to, const Target& target) {
  const Socket connection(to);
  if (connection.fd() < 0 || connect(connection.fd(), to.ai_addr, to.ai_addrlen) != 0) {
    return SystemError();
  }
  const std::string request = absl::StrCat("GET ", target.path, " HTTP/1.1\r\nHost: ", target.host,
                                           "\r\nConnection: close\r\n\r\n");
  if (send(connection.fd(), request.data(), request.size(), MSG_NOSIGNAL) < 0) return SystemError();
  Answer answer;
  std::array<char, 4096> buffer;
  size_t total = 0;
  while (!answer.complete() && total < kMaxAnswerBytes) {
    const ssize_t size = recv(connection.fd(), buffer.data(), buffer.size(), 0);
    if (size < 0) return SystemError();
    total += static_cast<size_t>(size);
    const bool valid = answer.Read({buffer.data(), static_cast<size_t>(size)});
    if (!valid || (size == 0 && !answer.complete())) return absl::UnavailableError("no answer");
  }
  if (answer.status() == 200) return absl::OkStatus();
  const std::string line = absl::StrCat(answer.status(), " ", Abseil(answer.line()));
  return absl::UnavailableError(absl::StripAsciiWhitespace(line));
}

// Asks at the addresses of the host until one answers.
absl::Status Ask(const Target& target) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int error =
      getaddrinfo(target.host.c_str(), absl::StrCat(target.port).c_str(), &hints, &found);
  if (error != 0) return absl::UnavailableError(gai_strerror(error));
  const absl::Cleanup free = [found] { freeaddrinfo(found); };
  absl::Status status;
  for (const addrinfo* to = found; to != nullptr; to = to->ai_next) {
    status = AskAt(*to, target);
    if (status.ok()) break;
  }
  return status;
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
  // The system bounds the wait for a name, a connection and an answer each in its way. So another
  // thread waits for them.
  std::packaged_task<absl::Status()> ask([target] { return Ask(target); });
  std::future<absl::Status> asked = ask.get_future();
  std::thread(std::move(ask)).detach();
  absl::Status status =
      absl::DeadlineExceededError(absl::StrCat("no answer within ", absl::FormatDuration(timeout)));
  if (asked.wait_for(absl::ToChronoNanoseconds(timeout)) == std::future_status::ready) {
    status = asked.get();
  }
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
