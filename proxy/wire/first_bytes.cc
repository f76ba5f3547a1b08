// SPDX-License-Identifier: Apache-2.0
#include "wire/first_bytes.h"

#include <cstdint>

#include "base/host_port.h"

namespace levee {
namespace {

constexpr std::string_view kConnectMethod = "CONNECT ";

// Whether one of the two is the beginning of the other.
bool Agree(std::string_view bytes, std::string_view with) {
  return with.starts_with(bytes.substr(0, with.size()));
}

}  // namespace

Http2Begins BeginsPreface(std::string_view bytes) {
  if (!Agree(bytes, kHttp2Preface)) return Http2Begins::kNo;
  return bytes.size() < kHttp2Preface.size() ? Http2Begins::kMore : Http2Begins::kYes;
}

Http2Begins BeginsSettings(std::string_view bytes) {
  constexpr size_t kLengthBytes = 3, kSettingBytes = 6, kMaxLength = 16 * 1024;
  // Type, flags and stream of the frame.
  constexpr std::string_view kRest("\x04\0\0\0\0\0", 6);
  if (bytes.size() < kLengthBytes) {
    const bool may_fit = bytes.empty() || bytes[0] == 0;
    return may_fit ? Http2Begins::kMore : Http2Begins::kNo;
  }
  size_t length = 0;
  for (const char byte : bytes.substr(0, kLengthBytes)) {
    length = length << 8 | static_cast<uint8_t>(byte);
  }
  if (length > kMaxLength || length % kSettingBytes != 0) return Http2Begins::kNo;
  const std::string_view rest = bytes.substr(kLengthBytes);
  if (!Agree(rest, kRest)) return Http2Begins::kNo;
  return rest.size() < kRest.size() ? Http2Begins::kMore : Http2Begins::kYes;
}

FirstBytes ClassifyFirstBytes(std::string_view bytes) {
  const Http2Begins http2 = BeginsPreface(bytes);
  if (http2 != Http2Begins::kNo) {
    return http2 == Http2Begins::kYes ? FirstBytes::kHttp2 : FirstBytes::kMore;
  }
  if (Agree(bytes, kConnectMethod)) {
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
