#include "wire/first_bytes.h"

#include <algorithm>

namespace levee {
namespace {

constexpr std::string_view kConnectMethod = "CONNECT ";

// "HOST:PORT" with a port from 1 to 65535, and nothing that has no place in an authority.
bool IsHostPort(std::string_view text) {
  const size_t colon = text.rfind(':');
  if (colon == std::string_view::npos || colon == 0) return false;
  const std::string_view port = text.substr(colon + 1);
  if (port.empty() || port.size() > 5) return false;
  int number = 0;
  for (const char c : port) {
    if (c < '0' || c > '9') return false;
    number = number * 10 + (c - '0');
  }
  const bool visible =
      std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c < 127 && c != '/'; });
  return visible && number >= 1 && number <= 65535;
}

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
  if (!http1 || !IsHostPort(destination)) return {.state = State::kBad};
  return {
      .state = State::kGood, .destination = std::string(destination), .size = end + kEnd.size()};
}

}  // namespace levee
