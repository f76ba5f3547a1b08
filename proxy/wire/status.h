// SPDX-License-Identifier: Apache-2.0
// gRPC status codes, and the HTTP and HTTP/2 codes that stand for them.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string_view>

#include "base/enum_values.h"

namespace levee {

// The codes of grpc/doc/statuscodes.md, by number.
enum class StatusCode : uint8_t {
  kOk = 0,
  kCancelled = 1,
  kUnknown = 2,
  kInvalidArgument = 3,
  kDeadlineExceeded = 4,
  kNotFound = 5,
  kAlreadyExists = 6,
  kPermissionDenied = 7,
  kResourceExhausted = 8,
  kFailedPrecondition = 9,
  kAborted = 10,
  kOutOfRange = 11,
  kUnimplemented = 12,
  kInternal = 13,
  kUnavailable = 14,
  kDataLoss = 15,
  kUnauthenticated = 16,
};

// The name of the code: "UNAVAILABLE" and so on. Static storage.
constexpr std::string_view StatusCodeName(StatusCode code) {
  switch (code) {
    case StatusCode::kOk:
      return "OK";
    case StatusCode::kCancelled:
      return "CANCELLED";
    case StatusCode::kUnknown:
      return "UNKNOWN";
    case StatusCode::kInvalidArgument:
      return "INVALID_ARGUMENT";
    case StatusCode::kDeadlineExceeded:
      return "DEADLINE_EXCEEDED";
    case StatusCode::kNotFound:
      return "NOT_FOUND";
    case StatusCode::kAlreadyExists:
      return "ALREADY_EXISTS";
    case StatusCode::kPermissionDenied:
      return "PERMISSION_DENIED";
    case StatusCode::kResourceExhausted:
      return "RESOURCE_EXHAUSTED";
    case StatusCode::kFailedPrecondition:
      return "FAILED_PRECONDITION";
    case StatusCode::kAborted:
      return "ABORTED";
    case StatusCode::kOutOfRange:
      return "OUT_OF_RANGE";
    case StatusCode::kUnimplemented:
      return "UNIMPLEMENTED";
    case StatusCode::kInternal:
      return "INTERNAL";
    case StatusCode::kUnavailable:
      return "UNAVAILABLE";
    case StatusCode::kDataLoss:
      return "DATA_LOSS";
    case StatusCode::kUnauthenticated:
      return "UNAUTHENTICATED";
  }
  return "";
}
inline constexpr int kStatusCodes = CountValues(StatusCodeName);

// Returns the code of a `grpc-status` value in decimal digits. A number that is not a known code is
// kUnknown (gRPC's rule for unknown codes). Text that is not a number is nullopt.
std::optional<StatusCode> ParseGrpcStatus(std::string_view value);

// Returns the code that a person wrote in a policy: its name in any case, or its number. nullopt if
// the text names no code.
std::optional<StatusCode> ParseStatusCode(std::string_view text);

// Returns the code for an answer without grpc-status (grpc/doc/http-grpc-status-mapping.md).
// `http_status` is the number in `:status`.
StatusCode StatusFromHttp(int http_status);

// Returns the code for a stream that RST_STREAM ended (gRPC over HTTP/2, "Errors"). `error_code` is
// the HTTP/2 error code; an unknown one gives kUnknown.
StatusCode StatusFromReset(uint32_t error_code);

// Whether the code says that the server, or the way to it, failed, and not that the caller's
// request was wrong. True for the codes for which OpenTelemetry's semantic conventions for gRPC
// call a server's span an error. True also for RESOURCE_EXHAUSTED, with which an overloaded server,
// a limit or Levee itself refuses a call.
bool IsServerFault(StatusCode code);

// HTTP/2 error codes (RFC 9113, section 7) that Levee itself sends or tells apart.
inline constexpr uint32_t kResetNoError = 0x0;
inline constexpr uint32_t kResetProtocolError = 0x1;
inline constexpr uint32_t kResetInternalError = 0x2;
inline constexpr uint32_t kResetFlowControlError = 0x3;
inline constexpr uint32_t kResetStreamClosed = 0x5;
inline constexpr uint32_t kResetFrameSizeError = 0x6;
inline constexpr uint32_t kResetRefusedStream = 0x7;
inline constexpr uint32_t kResetCancel = 0x8;
inline constexpr uint32_t kResetCompressionError = 0x9;
inline constexpr uint32_t kResetEnhanceYourCalm = 0xb;

// Returns "REFUSED_STREAM" and so on; "unknown error" for an unknown code.
std::string_view ResetName(uint32_t error_code);

// A set of status codes.
class StatusCodeSet {
 public:
  constexpr StatusCodeSet() = default;
  constexpr StatusCodeSet(std::initializer_list<StatusCode> codes) {
    for (StatusCode code : codes) Add(code);
  }
  constexpr void Add(StatusCode code) { bits_ |= 1u << static_cast<int>(code); }
  constexpr bool Has(StatusCode code) const { return (bits_ >> static_cast<int>(code)) & 1; }
  constexpr bool empty() const { return bits_ == 0; }
  friend constexpr bool operator==(StatusCodeSet, StatusCodeSet) = default;

 private:
  uint32_t bits_ = 0;
};

}  // namespace levee
