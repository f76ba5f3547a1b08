// SPDX-License-Identifier: Apache-2.0
#include "policy/reconnect.h"

#include <algorithm>

namespace levee {

void Reconnect::OnLost(bool proven, const BackoffPolicy& policy, Instant now, Random& random) {
  if (proven) {
    unproven_ = 0;
    backoff_.Restart();
  } else if (++unproven_ > 1) {
    OnFailed(policy, now, random);
    return;
  }
  unhurried_ = wanted_ = now;
}

void Reconnect::OnLeaving(const BackoffPolicy& policy, Instant now, Random& random) {
  if (unproven_ > 0) return OnFailed(policy, now, random);
  unhurried_ = wanted_ = now;
}

void Reconnect::OnLeft(bool proven) {
  if (proven) {
    unproven_ = 0;
    backoff_.Restart();
  } else {
    ++unproven_;
  }
}

void Reconnect::OnFailed(const BackoffPolicy& policy, Instant now, Random& random) {
  unhurried_ = now + backoff_.Next(policy, random);
  // The whole fleet has lost the endpoint at the same time, and has calls for it.
  const absl::Duration hurried = kWanted * (1 + random.Uniform()) / 2;
  wanted_ = std::min(unhurried_, now + hurried);
}

}  // namespace levee
