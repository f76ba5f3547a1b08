// SPDX-License-Identifier: Apache-2.0
// The words for what goes wrong in TLS.
#pragma once

#include <openssl/types.h>

#include "tls/result.h"

namespace levee::tls {

// Returns what has ended the session, by OpenSSL's queue of errors, which is empty afterwards.
Failure FailureOf(const SSL* ssl, Role role);

// Returns the failure of a handshake that ended without an error of TLS: kTimeout or kReset.
Failure FailureOf(Result result);

}  // namespace levee::tls
