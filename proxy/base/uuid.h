// SPDX-License-Identifier: Apache-2.0
// Random UUIDs.
#pragma once

#include <string>

#include "base/random.h"

namespace levee {

// Returns a version 4 UUID (RFC 9562, section 5.4): "3b241101-e2bb-4255-8caf-4136c566a962". It is
// unique, but not secret.
std::string RandomUuid(Random& random);

}  // namespace levee
