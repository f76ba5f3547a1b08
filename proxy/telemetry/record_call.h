// SPDX-License-Identifier: Apache-2.0
// From the record of an ended call to the metrics.
#pragma once

#include <span>

#include "telemetry/series.h"
#include "wire/call_record.h"

namespace levee {

// Writes an ended call into its worker's series; on that worker's thread, once per call. No lock,
// no allocation. The series must be those of the call's upstream and method.
//
// A call that was refused before its first attempt counts as a call and as a refusal, but has no
// place in levee_call_attempts: that histogram says how many attempts calls took, and its lowest
// bucket would mix them with the calls that succeed at once.
void RecordCall(MethodSeries& method, UpstreamSeries& upstream, WorkerSeries& worker,
                const CallRecord& record);

// Writes what the limits of the call's policy decided; `limits` are their series in its order. A
// call that one of them refused counts as rejected by that one and as nothing for the others, which
// gave it nothing; of a call that waited, the one with the longest wait counts as delayed.
void RecordRateLimits(std::span<RateLimitSeries* const> limits, const RateLimitRecord& record);

}  // namespace levee
