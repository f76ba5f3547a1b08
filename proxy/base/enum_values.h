// SPDX-License-Identifier: Apache-2.0
// Counts the values of an enum, so that no number stands beside the enum.
#pragma once

#include <string_view>

namespace levee {

// Returns the number of values of an enum whose values count up from 0. `name` returns the name of
// each value and "" for any other number. It is a switch without `default`, which does not compile
// when a value has no name (-Werror=switch).
template <typename Enum>
consteval int CountValues(std::string_view (*name)(Enum)) {
  int count = 0;
  while (!name(static_cast<Enum>(count)).empty()) ++count;
  return count;
}

}  // namespace levee
