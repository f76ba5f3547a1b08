// SPDX-License-Identifier: Apache-2.0
#include "config/receiver.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/host_port.h"
#include "config/header_names.h"
#include "config/read_file.h"
#include "config/values.h"

namespace levee {
namespace {

namespace v1 = config::v1;

constexpr char kHeadersPath[] = "otlp.headers_file";
constexpr size_t kMaxHeadersBytes = 64 << 10;
constexpr size_t kMaxHeaders = 32;
constexpr std::string_view kClear = "http://";
constexpr std::string_view kTls = "https://";

// Headers with which gRPC says something of its own.
constexpr std::array<std::string_view, 6> kOfTheProtocol = {
    "connection", "content-type", "host", "te", "trailer", "user-agent"};

// Whether gRPC takes the name, which is in lower case. It knows fewer characters than HTTP.
bool IsName(const std::string& name) {
  return std::all_of(name.begin(), name.end(), [](unsigned char c) {
    return absl::ascii_isalnum(c) || c == '-' || c == '_' || c == '.';
  });
}

bool MaySend(const std::string& name) {
  return !name.starts_with("grpc-") && !name.ends_with("-bin") &&
         std::find(kOfTheProtocol.begin(), kOfTheProtocol.end(), name) == kOfTheProtocol.end();
}

bool IsPrintable(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(),
                                      [](unsigned char c) { return absl::ascii_isprint(c); });
}

// Reads `name: value`. Returns what is wrong with the line, without its text; empty: nothing.
std::string ReadHeader(absl::string_view line, ReceiverHeaders& headers) {
  const std::vector<std::string> parts = absl::StrSplit(line, absl::MaxSplits(':', 1));
  if (parts.size() != 2) return "has no colon; a line is `name: value`";
  const auto name = ParseHeaderName(std::string(absl::StripAsciiWhitespace(parts[0])));
  if (!name.ok() || !IsName(*name))
    return "does not begin with the name of a header; a line is `name: value`";
  if (!MaySend(*name)) return "has a header with a meaning of its own in gRPC; leave it out";
  std::string value(absl::StripAsciiWhitespace(parts[1]));
  if (!IsPrintable(value)) return "has no value, or one that is not printable ASCII";
  if (headers.size() == kMaxHeaders) return absl::StrCat("is one header above ", kMaxHeaders);
  headers.emplace_back(*name, std::move(value));
  return "";
}

bool IsLoopback(const std::string& host) {
  return host == "localhost" || host == "::1" || host.starts_with("127.");
}

}  // namespace

std::optional<ReceiverAddress> ParseReceiver(const std::string& text) {
  std::string_view rest = text;
  const bool tls = rest.starts_with(kTls);
  if (tls) {
    rest.remove_prefix(kTls.size());
  } else if (rest.starts_with(kClear)) {
    rest.remove_prefix(kClear.size());
  }
  const std::optional<HostPort> parts = SplitHostPort(rest);
  if (!parts.has_value()) return std::nullopt;
  return ReceiverAddress{.host = std::string(parts->host), .port = parts->port, .tls = tls};
}

void ValidateReceiver(const v1::Config& config, const Positions& positions, FaultList& faults) {
  const std::string& address = config.otlp().address();
  if (address.empty() || ParseReceiver(address).has_value()) return;
  faults.Add(
      positions.Find("otlp.address"), CheckCode::kReceiverAddress,
      absl::StrCat(Quoted(address),
                   " is not an address; say HOST:PORT, or https://HOST:PORT for TLS, without a "
                   "path, as in otel-collector.monitoring:4317"));
}

ReceiverHeaders LoadReceiverHeaders(const v1::Config& config, const Positions& positions,
                                    FaultList& faults) {
  ReceiverHeaders headers;
  const std::string& file = config.otlp().headers_file();
  if (!IsGiven(file)) return headers;
  const absl::StatusOr<std::string> text = ReadFile(file, kMaxHeadersBytes);
  if (!text.ok()) {
    const bool large = absl::IsOutOfRange(text.status());
    faults.Add(positions.Find(kHeadersPath),
               large ? CheckCode::kFileTooLarge : CheckCode::kUnreadableFile,
               large ? absl::StrCat(file, " is larger than ", kMaxHeadersBytes, " bytes")
                     : absl::StrCat(file, ": ", text.status().message()));
    return headers;
  }
  int number = 0;
  for (const absl::string_view line : absl::StrSplit(*text, '\n')) {
    ++number;
    const absl::string_view content = absl::StripAsciiWhitespace(line);
    if (content.empty() || content[0] == '#') continue;
    std::string wrong = ReadHeader(content, headers);
    if (wrong.empty()) continue;
    faults.Add({.file = file, .line = number, .column = 1, .path = kHeadersPath},
               CheckCode::kHeadersFile, std::move(wrong));
  }
  return headers;
}

void FindReceiverWarnings(const v1::Config& config, const Positions& positions,
                          FaultList& warnings) {
  const v1::Otlp& otlp = config.otlp();
  if (!positions.Has(kHeadersPath) || otlp.headers_file() == "none") return;
  const std::optional<ReceiverAddress> receiver = ParseReceiver(otlp.address());
  if (!receiver.has_value() || receiver->tls || IsLoopback(receiver->host)) return;
  warnings.Add(positions.Find(kHeadersPath), CheckCode::kHeadersInClear,
               absl::StrCat("goes to ", Quoted(otlp.address()),
                            " without TLS, so others can read it on the way; say https://"));
}

}  // namespace levee
