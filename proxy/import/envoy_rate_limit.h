// SPDX-License-Identifier: Apache-2.0
// Reads Envoy's local rate limit as a rate limit of Levee.
#pragma once

#include <optional>
#include <vector>

#include "import/draft.h"
#include "import/source.h"

namespace levee::importer {

// The keys of a bucket that gets tokens at each interval.
struct BucketKeys {
  const char* most;
  const char* tokens;
  const char* interval;
};

// Returns the limit of a bucket, without a name.
RateLimitDraft ReadTokenBucket(Section& bucket, const BucketKeys& keys, Notes& notes);

// Returns the limit of these settings (LocalRateLimit); only notes if the limit enforces nothing.
Field<RateLimitDraft> ReadLocalRateLimit(Section settings);

// The same for an HTTP filter; nullopt if it is another filter.
std::optional<Field<RateLimitDraft>> ReadRateLimitFilter(Section& http_filter);

// The same for a section's typed_per_filter_config; nullopt if that has no such limit. Settings of
// other filters are noted.
std::optional<Field<RateLimitDraft>> ReadOwnRateLimit(Section& section, Notes& notes);

// Notes the limit at `global` of a gateway's policy, if there is one.
void NoteGlobalLimit(Section& limits, Notes& notes);

// Notes the keys by which the rate_limits of a route or a virtual host ask a rate limit service
// that is not known.
void NoteRateLimits(std::vector<Section> rate_limits, Notes& notes);

}  // namespace levee::importer
