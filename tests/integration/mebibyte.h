// SPDX-License-Identifier: Apache-2.0
// The unit in which tests say how much memory a process may take.
#pragma once

namespace levee {

inline constexpr long kMiB = 1024 * 1024;

}  // namespace levee
