// SPDX-License-Identifier: Apache-2.0
#include "otlp/export_rule.h"

#include "wire/pushback.h"
#include "wire/status_details.h"

namespace levee {
namespace {

BackoffPolicy ReceiverBackoff() {
  return {.initial = absl::Seconds(1), .max = absl::Seconds(10), .jitter = Jitter::kEqual};
}

// The codes after which the specification lets an export be repeated. RESOURCE_EXHAUSTED is one
// only where the receiver says that it will recover.
bool IsRetryable(const ExportAnswer& answer) {
  switch (answer.code) {
    case StatusCode::kCancelled:
    case StatusCode::kDeadlineExceeded:
    case StatusCode::kAborted:
    case StatusCode::kOutOfRange:
    case StatusCode::kUnavailable:
    case StatusCode::kDataLoss:
      return true;
    case StatusCode::kResourceExhausted:
      return answer.wait.has_value();
    default:
      return false;
  }
}

}  // namespace

void ReadAdvice(const Metadata& trailers, ExportAnswer& answer) {
  const absl::Duration delay = FindRetryDelayInDetails(trailers);
  if (delay > absl::ZeroDuration()) answer.wait = delay;
  const Pushback pushback = ParsePushback(trailers);
  if (pushback.kind == Pushback::Kind::kDelay) answer.wait = pushback.delay;
  answer.do_not_retry = pushback.kind == Pushback::Kind::kDoNotRetry;
}

ExportDecision ExportAttempts::OnFailed(const ExportAnswer& answer, Instant now, Random& random) {
  if (answer.do_not_retry || !IsRetryable(answer)) return {.step = ExportStep::kRefused};
  const absl::Duration wait =
      answer.wait.has_value() ? backoff_.NextAfterAdvice(ReceiverBackoff(), *answer.wait, random)
                              : backoff_.Next(ReceiverBackoff(), random);
  if (now + wait - begun_ > kLongest) return {.step = ExportStep::kGiveUp};
  return {.step = ExportStep::kRetry, .wait = wait};
}

}  // namespace levee
