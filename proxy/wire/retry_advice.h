// What an upstream says about the least wait before a retry, beside grpc-retry-pushback-ms.
#pragma once

#include "absl/time/time.h"
#include "wire/metadata.h"

namespace levee {

// The longest wait that `fields` (the trailers of a failed attempt, or the head of an answer that
// is not gRPC) ask for: google.rpc.RetryInfo in grpc-status-details-bin, and `retry-after` in
// seconds or as a date (RFC 9110, section 10.2.3). A date is taken relative to the `date` field if
// there is one, else to `wall_now`. Zero: none, or nothing that can be read. Never negative; what
// is beyond any sane wait is absl::InfiniteDuration().
absl::Duration ParseRetryAdvice(const Metadata& fields, absl::Time wall_now);

}  // namespace levee
