// SPDX-License-Identifier: Apache-2.0
// An attack that makes a server compute: mTLS handshakes, again and again.
#pragma once

#include "attacks/attacks.h"

namespace levee {

// 1000 handshakes a second on connections that end after them. The target's certificates folder has
// ca.pem, own.crt and own.key. Does not return.
void ShakeHands(Target& target);

}  // namespace levee
