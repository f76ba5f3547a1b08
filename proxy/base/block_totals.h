// SPDX-License-Identifier: Apache-2.0
// What has become of blocks since the process began.
#pragma once

#include <cstdint>

namespace levee {

// Returns how many bytes of blocks all threads have given back to malloc so far. It grows with each
// block, also with one whose memory is used again. Any thread.
int64_t FreedBlockBytes();

}  // namespace levee
