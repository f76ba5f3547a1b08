// SPDX-License-Identifier: Apache-2.0
// Numbers as the lab's sentences have them.
#pragma once

#include <string>
#include <vector>

#include "absl/time/time.h"

namespace levee {

// Returns "36.96ms" or "1.75s": four digits at most.
std::string DurationWords(absl::Duration duration);

// Returns "31%"; of less than 1% two digits.
std::string PercentWords(double share);

// Returns "1000" or "0.5": six digits at most.
std::string NumberWords(double number);

// Returns "1.02": two digits after the point.
std::string TwoDigits(double number);

// Returns "a, b and c".
std::string ListWords(const std::vector<std::string>& words);

}  // namespace levee
