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

inline constexpr std::string_view kTraceparent = "traceparent";
inline constexpr std::string_view kTracestate = "tracestate";  // means nothing without the other

// Returns the trace id of a valid value: 32 hexadecimal digits, as a view into it. Returns nullopt
// for any other value. Version 00 is exactly version-traceid-parentid-flags. A later version begins
// with the same parts, and may go on with '-' and parts of its own. Version ff, an id of zeros
// alone, and upper-case digits are invalid.
std::optional<std::string_view> ParseTraceId(std::string_view traceparent);

// Returns the trace that a request belongs to, as a view into it; empty if the request has no
// traceparent, an invalid one, or several.
std::string_view TraceIdOf(const Metadata& request);

// Returns a random id, never 0, which would be invalid.
uint64_t NewSpanId(Random& random);

// Returns a value that begins a trace. It is sampled, as a service that begins one itself samples
// it if nobody says otherwise (OpenTelemetry's default sampler).
std::string NewTraceparent(Random& random);

// Returns the same value with another parent id: the id of the span that calls the next hop. Trace
// id, flags and everything else stay. `traceparent` must be valid and `span_id` not 0.
std::string WithParentId(std::string_view traceparent, uint64_t span_id);

}  // namespace levee
