// SPDX-License-Identifier: Apache-2.0
// Makes the error of a text that is no value of its field.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "config/fault.h"

namespace levee {

// Returns an error of half a sentence: `text` in quotes, then `what`.
inline absl::Status Wrong(const std::string& text, const std::string& what) {
  return absl::InvalidArgumentError(absl::StrCat(Quoted(text), " ", what));
}

}  // namespace levee
