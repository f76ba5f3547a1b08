// SPDX-License-Identifier: Apache-2.0
// Real time that passes: for suites that measure, whose names end in Soak. No other test needs it.
#pragma once

#include <poll.h>

#include <chrono>

namespace levee {

inline void PassRealTime(std::chrono::milliseconds span) {
  poll(nullptr, 0, static_cast<int>(span.count()));
}

}  // namespace levee
