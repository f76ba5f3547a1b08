// SPDX-License-Identifier: Apache-2.0
// Texts that come and go with calls, as blocks.
#pragma once

#include <string>

#include "base/block_cache.h"

namespace levee {

using BlockString = std::basic_string<char, std::char_traits<char>, BlockAllocator<char>>;

}  // namespace levee
