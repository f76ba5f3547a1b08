// SPDX-License-Identifier: Apache-2.0
// How long calls wait for a connection, and how they go once there is one.
#pragma once

#include <algorithm>
#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "base/instant.h"
#include "policy/last_answer.h"

namespace levee {

// Returns until when an attempt that begins `now` waits for a connection where nothing can be
// reached. `wait`: the upstream's connect_wait, which counts from `begun`, when the call's first
// attempt did. `deadline`: of the call.
inline Instant PatientUntil(absl::Duration wait, Instant begun, Instant deadline, Instant now) {
  if (wait <= absl::ZeroDuration()) return now;
  return std::min(begun + wait, LastAnswer(deadline, absl::ZeroDuration(), now));
}

// The message of such an attempt that has waited in vain. `reason`: why nothing can be reached.
inline std::string WaitedForConnection(absl::Duration waited, const std::string& reason) {
  return absl::StrCat("waited ", absl::ToInt64Milliseconds(waited), " ms for a connection; ",
                      reason);
}

// Calls may have waited for seconds for a service that could not be reached (`connect_wait`). They
// do not all go as it comes, since an instance that has just started is slow: ten go first, and
// then two for each that is answered. So the release is clocked by answers, as a TCP connection's
// slow start is (RFC 5681). A call that ends otherwise makes room for one.
//
// One destination's. A value without clock; one thread.
class ConnectGate {
 public:
  static constexpr int kFirst = 10;

  // A call waits, and nothing can be reached. From now on calls go one behind the other.
  void OnHeld() {
    room_ = kFirst;
    others_.reset();
  }

  // No call waits any more.
  void OnEmpty() { room_ = 0; }

  // Whether calls that come have to queue.
  bool closed() const { return room_ > 0; }

  // Whether one more call may go. `active`: the calls that run now. Calls that ran when the first
  // one went do not count: they may be streams on a connection that is going away.
  bool MayGo(int active) {
    if (!closed()) return true;
    others_ = std::min(others_.value_or(active), active);
    return active - *others_ < room_;
  }

  // A call was answered.
  void OnAnswer() {
    if (closed()) ++room_;
  }

 private:
  int room_ = 0;               // for calls at a time; 0: for any number
  std::optional<int> others_;  // calls that run, and did before the first one went
};

}  // namespace levee
