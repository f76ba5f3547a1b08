// SPDX-License-Identifier: Apache-2.0
// How often certificates are replaced in a test.
#pragma once

#include <chrono>
#include <cstdlib>
#include <functional>

namespace levee {

// Calls `replace` with 1, 2 and so on: twelve times, and for LEVEE_ROTATION_SECONDS. It returns
// when what it has put there is in use, which takes less than a second.
inline void Rotate(const std::function<void(int)>& replace) {
  const char* const text = std::getenv("LEVEE_ROTATION_SECONDS");
  const auto until = std::chrono::steady_clock::now() +
                     std::chrono::seconds(text == nullptr ? 0 : std::atoi(text));
  for (int i = 1; i <= 12 || std::chrono::steady_clock::now() < until; ++i) replace(i);
}

}  // namespace levee
