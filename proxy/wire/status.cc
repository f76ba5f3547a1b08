// SPDX-License-Identifier: Apache-2.0
#include "wire/status.h"

#include <array>

#include "absl/strings/ascii.h"

namespace levee {
namespace {

struct Reset {
  std::string_view name;
  StatusCode code;
};

// By HTTP/2 error code (RFC 9113, section 7).
constexpr std::array<Reset, 14> kResets = {{
    {"NO_ERROR", StatusCode::kInternal},
    {"PROTOCOL_ERROR", StatusCode::kInternal},
    {"INTERNAL_ERROR", StatusCode::kInternal},
    {"FLOW_CONTROL_ERROR", StatusCode::kInternal},
    {"SETTINGS_TIMEOUT", StatusCode::kInternal},
    {"STREAM_CLOSED", StatusCode::kUnknown},
    {"FRAME_SIZE_ERROR", StatusCode::kInternal},
    {"REFUSED_STREAM", StatusCode::kUnavailable},
    {"CANCEL", StatusCode::kCancelled},
    {"COMPRESSION_ERROR", StatusCode::kInternal},
    {"CONNECT_ERROR", StatusCode::kInternal},
    {"ENHANCE_YOUR_CALM", StatusCode::kResourceExhausted},
    {"INADEQUATE_SECURITY", StatusCode::kPermissionDenied},
    {"HTTP_1_1_REQUIRED", StatusCode::kUnknown},
}};

// Returns the number that `text` spells in decimal digits: kStatusCodes for any number above the
// codes, nullopt if `text` is not a number.
std::optional<int> ParseNumber(std::string_view text) {
  if (text.empty()) return std::nullopt;
  int number = 0;
  for (char c : text) {
    if (!absl::ascii_isdigit(static_cast<unsigned char>(c))) return std::nullopt;
    number = number * 10 + (c - '0');
    if (number > kStatusCodes) number = kStatusCodes;
  }
  return number;
}

bool EqualsIgnoringCase(std::string_view text, std::string_view upper_case) {
  if (text.size() != upper_case.size()) return false;
  for (size_t i = 0; i < text.size(); ++i) {
    if (absl::ascii_toupper(static_cast<unsigned char>(text[i])) != upper_case[i]) return false;
  }
  return true;
}

}  // namespace

std::optional<StatusCode> ParseGrpcStatus(std::string_view value) {
  const std::optional<int> number = ParseNumber(value);
  if (!number) return std::nullopt;
  return *number < kStatusCodes ? static_cast<StatusCode>(*number) : StatusCode::kUnknown;
}

std::optional<StatusCode> ParseStatusCode(std::string_view text) {
  if (const std::optional<int> number = ParseNumber(text)) {
    if (*number < kStatusCodes) return static_cast<StatusCode>(*number);
    return std::nullopt;
  }
  for (int i = 0; i < kStatusCodes; ++i) {
    const auto code = static_cast<StatusCode>(i);
    if (EqualsIgnoringCase(text, StatusCodeName(code))) return code;
  }
  return std::nullopt;
}

StatusCode StatusFromHttp(int http_status) {
  switch (http_status) {
    case 400:
    case 431:
      return StatusCode::kInternal;
    case 401:
      return StatusCode::kUnauthenticated;
    case 403:
      return StatusCode::kPermissionDenied;
    case 404:
      return StatusCode::kUnimplemented;
    case 429:
    case 502:
    case 503:
    case 504:
      return StatusCode::kUnavailable;
    default:
      return StatusCode::kUnknown;
  }
}

StatusCode StatusFromReset(uint32_t error_code) {
  return error_code < kResets.size() ? kResets[error_code].code : StatusCode::kUnknown;
}

bool IsServerFault(StatusCode code) {
  constexpr StatusCodeSet kFaults = {StatusCode::kUnknown,           StatusCode::kDeadlineExceeded,
                                     StatusCode::kResourceExhausted, StatusCode::kUnimplemented,
                                     StatusCode::kInternal,          StatusCode::kUnavailable,
                                     StatusCode::kDataLoss};
  return kFaults.Has(code);
}

std::string_view ResetName(uint32_t error_code) {
  return error_code < kResets.size() ? kResets[error_code].name : "unknown error";
}

}  // namespace levee
