// SPDX-License-Identifier: Apache-2.0
// Where Levee's sessions and nghttp2's differ, and why.
#pragma once

#include <cstdint>

#include "fuzz/server_sessions.h"
#include "h2/frame.h"

namespace levee {

bool IsOfBlock(const h2::FrameHead& head);

// Nothing, if the stream was not used.
SeenStream Of(const Seen& seen, uint32_t stream);

// What happened when they began to differ.
struct Step {
  const h2::FrameHead& last;
  const Seen& own;
  const Seen& peer;
  const SeenStream& before;  // the frame's stream, before the frame came
};

// Returns why the difference is right; nullptr if there is no reason that is known.
const char* ReasonFor(const Step& step);

}  // namespace levee
