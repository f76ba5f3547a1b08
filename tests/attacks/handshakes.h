// SPDX-License-Identifier: Apache-2.0
// Attacks that make a server compute: mTLS handshakes and new keys, again and again.
#pragma once

#include "attacks/attacks.h"

namespace levee {

// 1000 handshakes a second on connections that end after them. The target's certificates folder has
// ca.pem, own.crt and own.key. Does not return.
void ShakeHands(Target& target);

// 20,000 changes of the keys a second (KeyUpdate, RFC 8446, section 4.6.3), until the connection
// ends. Certificates as above.
void ChangeKeys(Target& target);

}  // namespace levee
