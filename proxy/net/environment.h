// SPDX-License-Identifier: Apache-2.0
// The environment that the program was started with.
#pragma once

#include <string>

namespace levee::net {

// Returns the value of the variable; empty if it is not set.
std::string EnvironmentVariable(const char* name);

}  // namespace levee::net
