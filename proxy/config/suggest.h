// SPDX-License-Identifier: Apache-2.0
// Suggests the name that a misspelt one stands for.
#pragma once

#include <string>
#include <vector>

namespace levee {

// Returns the text to append to "unknown ..." when `word` is none of `known`: "; did you mean
// max_attempts?" if one of them is near, "; LABEL: a, b, c" otherwise, and nothing if `known` is
// empty. Case, '-' and '_' do not count. At most kMaxListed names are listed.
std::string Suggestion(const std::string& word, const std::vector<std::string>& known,
                       const std::string& label);
inline constexpr size_t kMaxListed = 24;

}  // namespace levee
