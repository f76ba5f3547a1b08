// SPDX-License-Identifier: Apache-2.0
// Waiting for what another process tells only when it is asked: a counter, a line, a port.
#pragma once

#include <poll.h>

#include <chrono>

#include "integration/child.h"

namespace levee {

// Asks until `condition` holds; false if it does not for kPatience.
template <typename Condition>
bool Eventually(const Condition& condition) {
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    poll(nullptr, 0, 2);  // The process that it waits for needs the processor as well.
  }
  return true;
}

}  // namespace levee
