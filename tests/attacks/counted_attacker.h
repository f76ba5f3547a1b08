// SPDX-License-Identifier: Apache-2.0
// A caller that says its frames itself, and whose bytes count for the target.
#pragma once

#include <string>
#include <string_view>

#include "attacks/attacks.h"
#include "integration/attacker.h"

namespace levee {

// One thread.
class CountedAttacker : public Attacker {
 public:
  explicit CountedAttacker(Target& target, Reading reading = Reading::kAll,
                           std::string_view settings = "")
      : Attacker(target.address(), reading, settings), target_(target) {
    target.CountConnection();
  }

  // As Attacker's.
  bool Send(std::string_view frames) {
    if (!Attacker::Send(frames)) return false;
    target_.CountBytes(frames.size());
    return true;
  }

  // Sends `piece` so often a second until the connection ends or `pieces` are sent.
  void Repeat(std::string_view piece, int per_second, int pieces) {
    for (int i = 0; i < pieces; ++i) {
      target_.Pace(per_second);
      if (!Send(piece)) return;
    }
  }

 private:
  Target& target_;
};

}  // namespace levee
