// SPDX-License-Identifier: Apache-2.0
// When an endpoint that is ejected gets a call, to see whether it has recovered.
#pragma once

#include <algorithm>

#include "absl/time/time.h"
#include "base/instant.h"

namespace levee {

// The pause before a look doubles with each one that fails; one that succeeds is followed by the
// next at once. A value without clock; one thread; `now` never goes backward.
class LookTimes {
 public:
  // How many must succeed in a row.
  static constexpr int kEnough = 3;

  // It failed, ejected or not: the pause becomes twice as long, from `least` to `most`.
  void OnFailure(absl::Duration least, absl::Duration most, Instant now) {
    pause_ = std::min(std::max(least, 2 * pause_), most);
    good_ = 0;
    at_ = now + pause_;
  }

  // A look is on its way. Unless its end says otherwise, the next one is due a pause later.
  void OnLook(Instant now) { at_ = now + pause_; }

  // A look succeeded. Returns whether that was enough.
  bool OnSuccess(Instant now) {
    at_ = now;
    return ++good_ >= kEnough;
  }

  // When the next look is due. A call that cannot be repeated is taken a pause later: another may
  // come.
  Instant At(bool repeatable) const { return repeatable ? at_ : at_ + pause_; }

 private:
  Instant at_;
  absl::Duration pause_;
  int good_ = 0;  // in a row
};

}  // namespace levee
