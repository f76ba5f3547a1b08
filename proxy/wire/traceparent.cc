// SPDX-License-Identifier: Apache-2.0
#include "wire/traceparent.h"

#include <algorithm>
#include <cstddef>

#include "absl/strings/str_cat.h"
#include "base/check.h"

namespace levee {
namespace {

// "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
constexpr size_t kTraceIdAt = 3;
constexpr size_t kTraceIdSize = 32;
constexpr size_t kParentIdAt = 36;
constexpr size_t kParentIdSize = 16;
constexpr size_t kFlagsAt = 53;
constexpr size_t kSize = 55;  // of version 00, and the least of every other

bool IsHex(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

bool IsId(std::string_view text) {
  return IsHex(text) && text.find_first_not_of('0') != std::string_view::npos;
}

bool HasKnownLength(std::string_view version, std::string_view traceparent) {
  if (traceparent.size() == kSize) return true;
  return version != "00" && traceparent.size() > kSize && traceparent[kSize] == '-';
}

}  // namespace

std::optional<std::string_view> ParseTraceId(std::string_view traceparent) {
  const std::string_view version = traceparent.substr(0, 2);
  if (!HasKnownLength(version, traceparent) || !IsHex(version) || version == "ff") {
    return std::nullopt;
  }
  for (const size_t dash : {kTraceIdAt - 1, kParentIdAt - 1, kFlagsAt - 1}) {
    if (traceparent[dash] != '-') return std::nullopt;
  }
  const std::string_view trace_id = traceparent.substr(kTraceIdAt, kTraceIdSize);
  if (!IsId(trace_id) || !IsId(traceparent.substr(kParentIdAt, kParentIdSize)) ||
      !IsHex(traceparent.substr(kFlagsAt, 2))) {
    return std::nullopt;
  }
  return trace_id;
}

std::string_view TraceIdOf(const Metadata& request) {
  if (request.Count(kTraceparent) != 1) return {};
  return ParseTraceId(request.Get(kTraceparent)).value_or(std::string_view());
}

uint64_t NewSpanId(Random& random) {
  uint64_t id = 0;
  while (id == 0) id = random.Next();
  return id;
}

std::string NewTraceparent(Random& random) {
  const auto id = [&] { return absl::Hex(NewSpanId(random), absl::kZeroPad16); };
  return absl::StrCat("00-", id(), id(), "-", id(), "-01");
}

std::string WithParentId(std::string_view traceparent, uint64_t span_id) {
  LEVEE_CHECK(span_id != 0 && traceparent.size() >= kSize);
  std::string changed(traceparent);
  for (size_t i = kParentIdSize; i > 0; --i) {
    changed[kParentIdAt + i - 1] = "0123456789abcdef"[span_id & 0xf];
    span_id >>= 4;
  }
  return changed;
}

}  // namespace levee
