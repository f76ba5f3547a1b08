// Envoy's local rate limit as Levee's.
#pragma once

#include <optional>

#include "import/draft.h"
#include "import/source.h"

namespace levee::importer {

// The limit that these settings (LocalRateLimit) are; only notes if it enforces nothing.
Field<RateLimitDraft> ReadLocalRateLimit(Section settings);

// The same for an HTTP filter; nullopt if it is another one.
std::optional<Field<RateLimitDraft>> ReadRateLimitFilter(Section& http_filter);

// The same for a section's typed_per_filter_config; nullopt if that does not have it. What other
// filters have there is noted.
std::optional<Field<RateLimitDraft>> ReadOwnRateLimit(Section& section, Notes& notes);

}  // namespace levee::importer
