// The header `traceparent`, by which calls that belong together are found (W3C Trace Context).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/random.h"
#include "wire/metadata.h"

namespace levee {

inline constexpr std::string_view kTraceparent = "traceparent";

// The trace id of a valid value, 32 hexadecimal digits as a view into it; nullopt of any other.
// Version 00 is exactly version-traceid-parentid-flags; of later versions, which may go on after
// that with '-' and what only they know, these parts are read alike. Version ff, an id of zeros
// alone, and upper-case digits are invalid.
std::optional<std::string_view> ParseTraceId(std::string_view traceparent);

// The trace that a request belongs to, as a view into it; empty if it has no traceparent, one that
// is invalid, or several.
std::string_view TraceIdOf(const Metadata& request);

// Not 0, which would be invalid.
uint64_t NewSpanId(Random& random);

// The same value with another parent id: that of the span which the next hop is called from. Trace
// id, flags and all else stay as they are. `traceparent` must be valid and `span_id` not 0.
std::string WithParentId(std::string_view traceparent, uint64_t span_id);

}  // namespace levee
