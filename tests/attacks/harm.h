// SPDX-License-Identifier: Apache-2.0
// Attacks on what a sidecar remembers of its callers, and on its other ports.
#pragma once

#include <span>

#include "attacks/attacks.h"

namespace levee {

// They call /test.Echo/Unary, which answers, and /test.Echo/Sleep, which never does.
std::span<const NamedAttack> HarmAttacks();

}  // namespace levee
