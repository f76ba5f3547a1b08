// SPDX-License-Identifier: Apache-2.0
// Reads the least wait before a retry that an upstream asks for, besides grpc-retry-pushback-ms.
#pragma once

#include "absl/time/time.h"
#include "wire/metadata.h"

namespace levee {

// Returns the longest wait that `fields` ask for. `fields` are the trailers of a failed attempt, or
// the head of an answer that is not gRPC. They ask by google.rpc.RetryInfo in
// grpc-status-details-bin and by `retry-after`, in seconds or as a date (RFC 9110, section 10.2.3).
// A date is taken relative to the `date` field if there is one, else to `wall_now`. Zero: they ask
// for nothing, or nothing that can be read. Never negative. A wait beyond any sane one is
// absl::InfiniteDuration().
absl::Duration ParseRetryAdvice(const Metadata& fields, absl::Time wall_now);

}  // namespace levee
