// SPDX-License-Identifier: Apache-2.0
#include "wire/pushback.h"

#include <algorithm>
#include <cstdint>
#include <limits>

namespace levee {
namespace {

constexpr std::string_view kPushbackField = "grpc-retry-pushback-ms";
constexpr int64_t kMaxMs = std::numeric_limits<int32_t>::max();

Pushback Parse(std::string_view value) {
  if (value.empty()) return {Pushback::Kind::kDoNotRetry};
  int64_t delay_ms = 0;
  for (char c : value) {
    // A sign is no digit either: every negative number ends here.
    if (c < '0' || c > '9') return {Pushback::Kind::kDoNotRetry};
    delay_ms = delay_ms * 10 + (c - '0');
    if (delay_ms > kMaxMs) return {Pushback::Kind::kDoNotRetry};
  }
  return {Pushback::Kind::kDelay, absl::Milliseconds(delay_ms)};
}

}  // namespace

Pushback ParsePushback(const Metadata& trailers) {
  const std::string_view value = trailers.Get(kPushbackField);
  if (value.data() == nullptr) return {};
  if (trailers.Count(kPushbackField) > 1) return {Pushback::Kind::kDoNotRetry};
  return Parse(value);
}

std::string PushbackText(absl::Duration wait) {
  const absl::Duration rounded = absl::Ceil(wait, absl::Milliseconds(1));
  return std::to_string(std::clamp<int64_t>(absl::ToInt64Milliseconds(rounded), 0, kMaxMs));
}

}  // namespace levee
