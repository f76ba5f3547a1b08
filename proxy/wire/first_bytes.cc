// SPDX-License-Identifier: Apache-2.0
#include "wire/first_bytes.h"

#include "base/host_port.h"

namespace levee {
namespace {

constexpr std::string_view kConnectMethod = "CONNECT ";

}  // namespace

FirstBytes ClassifyFirstBytes(std::string_view bytes) {
  const auto begins = [bytes](std::string_view with) {
    return with.starts_with(bytes.substr(0, with.size()));
  };
  if (begins(kHttp2Preface)) {
    return bytes.size() < kHttp2Preface.size() ? FirstBytes::kMore : FirstBytes::kHttp2;
  }
  if (begins(kConnectMethod)) {
    return bytes.size() < kConnectMethod.size() ? FirstBytes::kMore : FirstBytes::kConnect;
  }
  return FirstBytes::kOther;
}

ConnectRequest ParseConnectRequest(std::string_view bytes) {
  using State = ConnectRequest::State;
  constexpr std::string_view kEnd = "\r\n\r\n";
  const size_t end = bytes.substr(0, kMaxConnectHead).find(kEnd);
  if (end == std::string_view::npos) {
    return {.state = bytes.size() < kMaxConnectHead ? State::kMore : State::kBad};
  }
  const std::string_view line = bytes.substr(0, bytes.find("\r\n"));
  const std::string_view rest = line.substr(kConnectMethod.size());
  const size_t space = rest.find(' ');
  if (space == std::string_view::npos) return {.state = State::kBad};
  const std::string_view destination = rest.substr(0, space);
  const std::string_view version = rest.substr(space + 1);
  const bool http1 = version == "HTTP/1.1" || version == "HTTP/1.0";
  if (!http1 || !SplitHostPort(destination).has_value()) return {.state = State::kBad};
  return {
      .state = State::kGood, .destination = std::string(destination), .size = end + kEnd.size()};
}

bool BeginsTls(std::string_view bytes) {
  constexpr char kHandshake = 22, kMajorVersion = 3;
  return bytes.size() >= 2 && bytes[0] == kHandshake && bytes[1] == kMajorVersion;
}

}  // namespace levee
