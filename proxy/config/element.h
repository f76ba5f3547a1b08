// SPDX-License-Identifier: Apache-2.0
// Names the elements of lists of the configuration.
#pragma once

#include <string>

#include "absl/strings/str_cat.h"

namespace levee {

// Returns the path of an element of a list at the top, as "routes[0]".
inline std::string Element(const char* list, int index) {
  return absl::StrCat(list, "[", index, "]");
}

}  // namespace levee
