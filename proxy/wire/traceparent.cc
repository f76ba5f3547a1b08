// SPDX-License-Identifier: Apache-2.0
#include "wire/traceparent.h"

#include <array>
#include <cstddef>

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

constexpr std::string_view kDigits = "0123456789abcdef";

// Whether a character is one of kDigits. A look at a table takes half as long as comparisons.
constexpr std::array<bool, 256> kIsDigit = [] {
  std::array<bool, 256> is{};
  for (const char digit : kDigits) is[static_cast<unsigned char>(digit)] = true;
  return is;
}();

bool IsHex(std::string_view text) {
  bool all = true;
  for (const char c : text) all &= kIsDigit[static_cast<unsigned char>(c)];
  return all;
}

// Writes the 16 digits of `number`.
void WriteHex(uint64_t number, char* to) {
  for (char* at = to + kParentIdSize; at != to; number >>= 4) *--at = kDigits[number & 0xf];
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
  std::string text = "00-00000000000000000000000000000000-0000000000000000-01";
  WriteHex(NewSpanId(random), &text[kTraceIdAt]);
  WriteHex(NewSpanId(random), &text[kTraceIdAt + kTraceIdSize / 2]);
  WriteHex(NewSpanId(random), &text[kParentIdAt]);
  return text;
}

std::string WithParentId(std::string_view traceparent, uint64_t span_id) {
  LEVEE_CHECK(span_id != 0 && traceparent.size() >= kSize);
  std::string changed(traceparent);
  WriteHex(span_id, &changed[kParentIdAt]);
  return changed;
}

}  // namespace levee
