// SPDX-License-Identifier: Apache-2.0
// What follows an export that failed, by the rules of OTLP. Without clock and I/O.
#pragma once

#include <optional>
#include <string>

#include "absl/time/time.h"
#include "base/instant.h"
#include "base/random.h"
#include "policy/backoff.h"
#include "wire/metadata.h"
#include "wire/status.h"

namespace levee {

// How an export ended.
struct ExportAnswer {
  StatusCode code = StatusCode::kOk;
  std::string message;  // of a code other than OK
  int rejected = 0;     // spans that the receiver has not taken, with code OK
  // A wait that the receiver asks for, by google.rpc.RetryInfo or grpc-retry-pushback-ms.
  std::optional<absl::Duration> wait;
  bool do_not_retry = false;  // by its grpc-retry-pushback-ms
};

// Fills in what the trailers of a failed export ask for.
void ReadAdvice(const Metadata& trailers, ExportAnswer& answer);

enum class ExportStep {
  kRetry,
  kRefused,  // The receiver does not want the spans; it would not want them later either.
  kGiveUp,   // They have been tried for too long.
};

struct ExportDecision {
  ExportStep step = ExportStep::kRetry;
  absl::Duration wait = absl::ZeroDuration();  // with kRetry: before the next attempt
};

// The attempts to export one batch. A value; one thread.
class ExportAttempts {
 public:
  // No attempt starts later than this after the first one.
  static constexpr absl::Duration kLongest = absl::Seconds(60);

  explicit ExportAttempts(Instant begun) : begun_(begun) {}

  // An attempt failed with `answer` at `now`.
  ExportDecision OnFailed(const ExportAnswer& answer, Instant now, Random& random);

 private:
  const Instant begun_;
  Backoff backoff_;
};

}  // namespace levee
