// SPDX-License-Identifier: Apache-2.0
// What the kernel knows of the other end of a TCP connection.
#pragma once

#include "absl/time/time.h"

namespace levee::net {

struct PeerSigns {
  int unacknowledged = 0;     // segments that were sent
  absl::Duration since_ack;   // since the peer's kernel last acknowledged anything
  int retransmits = 0;        // of the oldest segment, each after a longer wait
  absl::Duration round_trip;  // smoothed
};

}  // namespace levee::net
