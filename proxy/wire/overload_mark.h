// SPDX-License-Identifier: Apache-2.0
// The agreed answer "overloaded, do not retry": reads it from trailers and writes it to them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/time/time.h"
#include "base/enum_values.h"
#include "wire/metadata.h"
#include "wire/percent_encoding.h"
#include "wire/refusal.h"
#include "wire/status.h"
#include "wire/structured_field.h"

namespace levee {

// How far the mark reaches: kService says do not retry at all, kEndpoint says not this instance.
enum class OverloadScope : uint8_t { kService, kEndpoint };

// The label `scope` of levee_overload_marks_total, and the word on the wire.
constexpr std::string_view OverloadScopeName(OverloadScope scope) {
  switch (scope) {
    case OverloadScope::kService:
      return "service";
    case OverloadScope::kEndpoint:
      return "endpoint";
  }
  return "";
}
inline constexpr int kOverloadScopes = CountValues(OverloadScopeName);

// Which signals of an upstream mean "do not retry" (`overload.honor`).
struct HonoredSignals {
  bool levee = true;       // levee-overload
  bool error_info = true;  // google.rpc.ErrorInfo, reason OVERLOADED_DO_NOT_RETRY
  bool pushback = true;    // negative grpc-retry-pushback-ms
  bool envoy = false;      // x-envoy-overloaded: one instance speaking, scope endpoint
};

// A mark as received or to be sent. The strings are the parameters of the `levee-overload` item.
struct OverloadMark {
  enum class Signal { kLevee, kErrorInfo, kPushback, kEnvoy };
  Signal signal = Signal::kLevee;
  OverloadScope scope = OverloadScope::kService;
  // Texts longer than kMaxText are left out as a mark is read.
  static constexpr size_t kMaxText = kMaxStructuredBytes;
  std::string reason;    // a RefusalReasonName, or what a newer sidecar sent; may be empty
  std::string upstream;  // the upstream's configured name; empty if the signal names none
  int hops = 1;          // sidecars passed, 1 to 255
};
inline constexpr int kMaxOverloadHops = 255;

// Returns the mark in the trailers of a failed attempt. The first of these that is there and
// honoured decides: levee-overload, ErrorInfo, negative pushback, x-envoy-overloaded. A
// levee-overload that is not one well-formed RFC 8941 item with a known token is not a mark;
// parameters that are unknown or of another type than ours are ignored. An ErrorInfo may come from
// any domain; the last one counts, since each sidecar appends its own. A pushback that cannot be
// parsed or is repeated counts as negative, since gRFC A6 reads it as "do not retry". Signals
// without a reason get the one of refusal.h.
std::optional<OverloadMark> FindOverloadMark(const Metadata& trailers, HonoredSignals honored);

// Returns the value of `levee-overload`: `service;reason=budget;upstream=cart;hops=1`. A parameter
// that is not an RFC 8941 token is written as a quoted string, with '?' for bytes that such a
// string cannot hold. An empty parameter is left out.
std::string FormatOverloadMark(const OverloadMark& mark);

// Adds the mark to the trailers of a failed call, unless they have one: levee-overload, and for
// scope service grpc-retry-pushback-ms: -1 in the place of any other. Everything else stays.
void AddOverloadMark(const OverloadMark& mark, Metadata& trailers);

// The contents of a marked answer.
struct MarkedStatus {
  StatusCode code = StatusCode::kResourceExhausted;  // the grpc-status to send
  std::string message;                               // unencoded text
  StatusCode original_code = StatusCode::kUnavailable;
  int attempts = 1;
  OverloadMark mark;
  // Of scope endpoint: when this instance may have room, above zero; none: unknown.
  std::optional<absl::Duration> pushback;
};

// Rewrites `trailers` (empty, or the last attempt's) into the marked answer: sets
// grpc-status, grpc-message (percent-encoded), levee-overload, grpc-status-details-bin with the
// sent code and message and our ErrorInfo appended to the details that were there, and for scope
// service grpc-retry-pushback-ms: -1, else `pushback`. Everything else in `trailers` stays. An
// ErrorInfo that says the same (scope, reason, upstream) is not repeated, so that a mark passed on
// from sidecar to sidecar does not grow and keeps the original code and attempts. Details that are
// no google.rpc.Status are replaced.
void ApplyOverloadMark(const MarkedStatus& status, Metadata& trailers);

}  // namespace levee
