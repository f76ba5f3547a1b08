// SPDX-License-Identifier: Apache-2.0
// Counts an ended call in the metrics, from its record.
#pragma once

#include <span>

#include "telemetry/series.h"
#include "wire/call_record.h"

namespace levee {

// Writes an ended call into its worker's series. Must be called once per call, on that worker's
// thread. The series must be those of the call's upstream and method. Takes no lock and allocates
// nothing.
//
// A call that was refused before its first attempt counts as a call and as a refusal, but not in
// levee_call_attempts. That histogram says how many attempts calls took; in its lowest bucket such
// a call would look like one that succeeded at once.
void RecordCall(MethodSeries& method, UpstreamSeries& upstream, WorkerSeries& worker,
                const CallRecord& record);

// A call has come to the guard of its upstream. Its callers had made `previous` attempts before.
void RecordArrival(GuardSeries& guard, int previous);

// Writes what a guard did with a call that has ended; nothing if the call never came to it.
void RecordGuard(GuardSeries& guard, const GuardRecord& record);

// Writes the decisions of the rate limits of the call's policy. `limits` are the series of these
// limits, in the policy's order. If a limit refused the call, the call counts as rejected by that
// limit and is not counted by the others. If the call waited, it counts as delayed by the limit
// with the longest wait and as admitted by the others.
void RecordRateLimits(std::span<RateLimitSeries* const> limits, const RateLimitRecord& record);

}  // namespace levee
