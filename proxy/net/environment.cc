// SPDX-License-Identifier: Apache-2.0
#include "net/environment.h"

#include <cstdlib>

namespace levee::net {

std::string EnvironmentVariable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string() : std::string(value);
}

}  // namespace levee::net
