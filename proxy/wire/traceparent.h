// SPDX-License-Identifier: Apache-2.0
// The header `traceparent` (W3C Trace Context), which says which calls belong together.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/random.h"
#include "wire/metadata.h"

namespace levee {

inline constexpr std::string_view kTraceparentHeader = "traceparent";
inline constexpr std::string_view kTracestateHeader =
    "tracestate";  // means nothing without the other

// Returns the trace id of a valid value: 32 hexadecimal digits, as a view into it. Returns nullopt
// for any other value. Version 00 is exactly version-traceid-parentid-flags. A later version begins
// with the same parts, and may go on with '-' and parts of its own. Version ff, an id of zeros
// alone, and upper-case digits are invalid.
std::optional<std::string_view> ParseTraceId(std::string_view traceparent);

// Returns the trace that a request belongs to, as a view into it; empty if the request has no
// traceparent, an invalid one, or several.
std::string_view TraceIdOf(const Metadata& request);

// The number of a trace, in two halves; never 0 as a whole.
struct TraceId {
  uint64_t high = 0;
  uint64_t low = 0;

  friend bool operator==(const TraceId&, const TraceId&) = default;
};

// Returns 32 hexadecimal digits.
std::string TraceIdText(const TraceId& id);

// The parts of a value of version 00.
struct Traceparent {
  TraceId trace_id;
  uint64_t parent_id = 0;  // the span that calls; never 0
  bool sampled = false;    // whether the caller records spans of the trace
};

// Returns the parts of a valid value; nullopt as ParseTraceId. Of a later version only these parts
// are returned.
std::optional<Traceparent> ParseTraceparent(std::string_view text);

// Returns those of the traceparent that a request has; nullopt if it has none, an invalid one, or
// several.
std::optional<Traceparent> TraceparentOf(const Metadata& request);

// Returns the value with these parts.
std::string TraceparentText(const Traceparent& parts);

// Returns a random id, never 0, which would be invalid.
uint64_t NewSpanId(Random& random);

// Returns a random id, of which each half is above 0.
TraceId NewTraceId(Random& random);

// Returns a value that begins a trace. It is sampled, as a service that begins one itself samples
// it if nobody says otherwise (OpenTelemetry's default sampler).
std::string NewTraceparent(Random& random);

// Returns the same value with another parent id: the id of the span that calls the next hop. Trace
// id, flags and everything else stay. `traceparent` must be valid and `span_id` not 0.
std::string WithParentId(std::string_view traceparent, uint64_t span_id);

}  // namespace levee
