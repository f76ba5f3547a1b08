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

// Reads 16 digits.
uint64_t ReadHex(std::string_view digits) {
  uint64_t number = 0;
  for (const char digit : digits.substr(0, kParentIdSize)) {
    number = number << 4 | static_cast<uint64_t>(kDigits.find(digit));
  }
  return number;
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
  if (request.Count(kTraceparentHeader) != 1) return {};
  return ParseTraceId(request.Get(kTraceparentHeader)).value_or(std::string_view());
}

uint64_t NewSpanId(Random& random) {
  uint64_t id = 0;
  while (id == 0) id = random.Next();
  return id;
}

TraceId NewTraceId(Random& random) {
  const uint64_t high = NewSpanId(random);
  return {.high = high, .low = NewSpanId(random)};
}

std::string TraceIdText(const TraceId& id) {
  std::string text(kTraceIdSize, '0');
  WriteHex(id.high, text.data());
  WriteHex(id.low, &text[kTraceIdSize / 2]);
  return text;
}

std::optional<Traceparent> ParseTraceparent(std::string_view text) {
  const std::optional<std::string_view> trace_id = ParseTraceId(text);
  if (!trace_id.has_value()) return std::nullopt;
  const size_t low_flags = kDigits.find(text[kFlagsAt + 1]);
  return Traceparent{
      .trace_id = {.high = ReadHex(*trace_id), .low = ReadHex(trace_id->substr(kTraceIdSize / 2))},
      .parent_id = ReadHex(text.substr(kParentIdAt)),
      .sampled = (low_flags & 1) != 0};
}

std::optional<Traceparent> TraceparentOf(const Metadata& request) {
  if (request.Count(kTraceparentHeader) != 1) return std::nullopt;
  return ParseTraceparent(request.Get(kTraceparentHeader));
}

std::string TraceparentText(const Traceparent& parts) {
  std::string text = "00-00000000000000000000000000000000-0000000000000000-00";
  WriteHex(parts.trace_id.high, &text[kTraceIdAt]);
  WriteHex(parts.trace_id.low, &text[kTraceIdAt + kTraceIdSize / 2]);
  WriteHex(parts.parent_id, &text[kParentIdAt]);
  if (parts.sampled) text[kFlagsAt + 1] = '1';
  return text;
}

std::string NewTraceparent(Random& random) {
  const TraceId id = NewTraceId(random);
  return TraceparentText({.trace_id = id, .parent_id = NewSpanId(random), .sampled = true});
}

std::string WithParentId(std::string_view traceparent, uint64_t span_id) {
  LEVEE_CHECK(span_id != 0 && traceparent.size() >= kSize);
  std::string changed(traceparent);
  WriteHex(span_id, &changed[kParentIdAt]);
  return changed;
}

}  // namespace levee
