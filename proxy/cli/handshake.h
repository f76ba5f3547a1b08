// SPDX-License-Identifier: Apache-2.0
// Makes TLS handshakes for commands that may wait.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "settings/upstream_spec.h"
#include "tls/client_source.h"
#include "tls/result.h"

namespace levee {

// Connects to the first address of the endpoint, which is of the kind kAddress or kUnix, as an
// upstream with this `source` does, and returns how the handshake ended. A service may refuse
// Levee's certificate only behind it, so its first bytes are waited for. An error: there was no
// connection. Takes up to `timeout` for the name, and as long again for the rest.
absl::StatusOr<tls::Failure> ShakeHands(const EndpointSpec& endpoint,
                                        const tls::ClientSource& source, absl::Duration timeout);

}  // namespace levee
