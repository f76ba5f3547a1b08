// SPDX-License-Identifier: Apache-2.0
#include "spiffe/feed_rule.h"

namespace levee {

absl::Duration FeedRule::OnEnded(StatusCode code, Random& random) {
  if (code == StatusCode::kInvalidArgument) return absl::InfiniteDuration();
  const BackoffPolicy policy = {
      .initial = absl::Milliseconds(250), .max = kLongest, .jitter = Jitter::kEqual};
  return backoff_.Next(policy, random);
}

}  // namespace levee
