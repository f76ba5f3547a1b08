// SPDX-License-Identifier: Apache-2.0
// Keys of rate limits.
#pragma once

#include <string_view>

#include "policy/limit_key.h"

namespace levee {

inline LimitKey KeyOf(std::string_view value) {
  LimitKey key;
  key.Add("method", value);
  return key;
}

}  // namespace levee
