// SPDX-License-Identifier: Apache-2.0
// Whom this process runs as.
#pragma once

#include <cstdint>

namespace levee::net {

// Returns the number of the user by whom the firewall knows this process' connections.
uint32_t ProcessUser();

}  // namespace levee::net
