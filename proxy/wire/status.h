// gRPC status codes and what stands for them in HTTP/2.
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

// The code of a `grpc-status` value: decimal digits; a number that is no known code is kUnknown
// (gRPC's rule for unknown codes), text that is no number is nullopt.
std::optional<StatusCode> ParseGrpcStatus(std::string_view value);

// A code as a person writes it in a policy: the name in any case, or the number. nullopt if it
// names no code.
std::optional<StatusCode> ParseStatusCode(std::string_view text);

// The code for an answer that carries no grpc-status
// (grpc/doc/http-grpc-status-mapping.md). `http_status` is the `:status` number.
StatusCode StatusFromHttp(int http_status);

// The code for a stream ended by RST_STREAM (gRPC over HTTP/2, "Errors"). `error_code` is the
// HTTP/2 error code; unknown ones are kUnknown.
StatusCode StatusFromReset(uint32_t error_code);

// Whether the code says that the server or the way to it failed, not the caller's request: those
// for which OpenTelemetry's semantic conventions for gRPC call a server's span an error, and
// RESOURCE_EXHAUSTED, with which an overloaded server, a limit or Levee itself turns a call away.
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

// "REFUSED_STREAM" and so on; "code 0x.." is not made up here: unknown codes are "unknown error".
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
