// SPDX-License-Identifier: Apache-2.0
// The two kinds of gRPC calls.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/enum_values.h"

namespace levee {

enum class CallKind : uint8_t {
  kUnary,   // one message each way
  kStream,  // any number of messages, in one direction at least
};

// The label `kind` of metrics, and the field of the access log.
constexpr std::string_view CallKindName(CallKind kind) {
  switch (kind) {
    case CallKind::kUnary:
      return "unary";
    case CallKind::kStream:
      return "stream";
  }
  return "";
}
inline constexpr int kCallKinds = CountValues(CallKindName);

}  // namespace levee
