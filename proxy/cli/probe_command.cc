// SPDX-License-Identifier: Apache-2.0
#include "cli/probe_command.h"

#include <array>
#include <cstdint>
#include <cstdio>
#include <future>
#include <memory>
#include <optional>
#include <string_view>
#include <thread>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "base/host_port.h"
#include "base/text.h"
#include "civetweb.h"

namespace levee {
namespace {

struct Target {
  std::string host;
  uint16_t port;
  std::string path;
};

struct ConnectionCloser {
  void operator()(mg_connection* connection) const { mg_close_connection(connection); }
};

// Returns the error for a failure of the library. `error` is the library's text, such as
// "connect(127.0.0.1:9461): error Connection refused".
absl::Status Unreachable(const char* error) {
  std::string_view why = error;
  const size_t colon = why.rfind(": ");
  if (colon != std::string_view::npos) why.remove_prefix(colon + 2);
  if (why.starts_with("error ")) why.remove_prefix(sizeof("error ") - 1);
  return absl::UnavailableError(why.empty() ? absl::string_view("no answer") : Abseil(why));
}

// Sends the request and waits for the answer. Returns OK if and only if the answer is 200.
absl::Status Ask(const Target& target, absl::Duration timeout) {
  std::array<char, 256> error{};
  const std::unique_ptr<mg_connection, ConnectionCloser> connection(
      mg_connect_client(target.host.c_str(), target.port, 0, error.data(), error.size()));
  if (connection == nullptr) return Unreachable(error.data());
  mg_printf(connection.get(), "GET %s HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n",
            target.path.c_str(), target.host.c_str());
  const auto patience = static_cast<int>(absl::ToInt64Milliseconds(timeout));
  if (mg_get_response(connection.get(), error.data(), error.size(), patience) < 0) {
    return Unreachable(error.data());
  }
  const mg_response_info* answer = mg_get_response_info(connection.get());
  if (answer->status_code == 200) return absl::OkStatus();
  std::array<char, 128> body{};
  const int size = mg_read(connection.get(), body.data(), body.size());
  const absl::string_view text(body.data(), static_cast<size_t>(size > 0 ? size : 0));
  const std::string line = absl::StrCat(answer->status_code, " ", text.substr(0, text.find('\n')));
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
  mg_init_library(MG_FEATURES_DEFAULT);
  // The library bounds the wait for an answer, but not the wait for a name or a connection. So this
  // function has its own bound. The library's bound is larger, so that this one always comes first.
  std::packaged_task<absl::Status()> ask([target, timeout] { return Ask(target, 2 * timeout); });
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
