// SPDX-License-Identifier: Apache-2.0
// When an endpoint is connected again after its connection was lost, or was not made.
#pragma once

#include "absl/time/time.h"
#include "base/instant.h"
#include "base/random.h"
#include "policy/backoff.h"

namespace levee {

// The rule is that of gRPC's connection backoff, which begins anew with a connection that works
// (https://github.com/grpc/grpc/blob/master/doc/connection-backoff.md), made stricter: SETTINGS
// alone do not show that a connection works, since a peer that sends them and hangs up would be
// dialled in a tight loop. A connection is proven once it has brought an answer, or has lasted for
// kStable.
//
//   lost, proven                    at once; the backoff begins anew
//   lost, not proven, first in row  at once
//   lost, not proven, in a row      after the next delay of the backoff, which begins at `initial`
//   leaves, with calls to answer    at once, unless the one before was not proven: then as if lost
//   not made                        after the next delay of the backoff
//
// While calls want the endpoint, no delay is longer than kWanted.
//
// One endpoint's. A value without clock; one thread; `now` never goes backward.
class Reconnect {
 public:
  // How long a connection lasts that needs no answer as its proof.
  static constexpr absl::Duration kStable = absl::Seconds(1);

  // Jitter takes up to half of it away.
  static constexpr absl::Duration kWanted = absl::Milliseconds(250);

  // How long calls wait for some endpoint to come back after the loss of a proven connection, once
  // in an outage. It outlasts a restart. Calls that come later fail at once, as long as nothing is
  // connected.
  static constexpr absl::Duration kReturn = absl::Seconds(2);

  // A connection that was ready was lost, or takes no new calls and has none to answer.
  void OnLost(bool proven, const BackoffPolicy& policy, Instant now, Random& random);

  // A connection that is not proven takes no new calls, and may still answer some. OnLeft follows
  // when it is closed.
  void OnLeaving(const BackoffPolicy& policy, Instant now, Random& random);
  void OnLeft(bool proven);

  // A connection was not made.
  void OnFailed(const BackoffPolicy& policy, Instant now, Random& random);

  // Returns when to connect next. `wanted`: calls wait for an endpoint.
  Instant when(bool wanted) const { return wanted ? wanted_ : unhurried_; }

 private:
  Backoff backoff_;
  int unproven_ = 0;  // losses in a row
  Instant unhurried_;
  Instant wanted_;  // no later than unhurried_
};

}  // namespace levee
