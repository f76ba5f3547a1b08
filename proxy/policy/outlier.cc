// SPDX-License-Identifier: Apache-2.0
#include "policy/outlier.h"

#include <algorithm>

namespace levee {

void Outlier::Record(bool success, Instant now) {
  if (success) {
    failures_ = 0;
  } else if (now != last_failure_) {
    ++failures_;
    last_failure_ = now;
  }
}

void Outlier::Eject(Instant now) {
  const int64_t healthy = (now - returned_) / kBase;
  doublings_ -= static_cast<int>(std::min<int64_t>(healthy, doublings_));
  until_ = now + std::min(kBase * (int64_t{1} << doublings_), kLongest);
  // After the longest ejection there is nothing to double.
  if (until_ < now + kLongest) ++doublings_;
  ejected_ = true;
}

void Outlier::Return(Instant now) {
  ejected_ = false;
  failures_ = 0;
  returned_ = now;
}

}  // namespace levee
