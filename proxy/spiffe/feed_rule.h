// SPDX-License-Identifier: Apache-2.0
// When a Workload API is asked again after its stream has ended. Without clock and I/O.
#pragma once

#include "absl/time/time.h"
#include "base/random.h"
#include "policy/backoff.h"
#include "wire/status.h"

namespace levee {

// A value; one thread.
class FeedRule {
 public:
  // The longest wait, but for an API that will never answer.
  static constexpr absl::Duration kLongest = absl::Seconds(15);

  // The API has given a certificate that can be used.
  void OnSvid() { backoff_ = Backoff(); }

  // The stream has ended. Returns how long to wait before the next one; infinite after
  // INVALID_ARGUMENT, which the specification forbids to repeat.
  absl::Duration OnEnded(StatusCode code, Random& random);

 private:
  Backoff backoff_;
};

}  // namespace levee
