// SPDX-License-Identifier: Apache-2.0
// Builds the plain values of policy/ from checked messages.
#pragma once

#include "levee/config/v1/config.pb.h"
#include "policy/retry_policy.h"

namespace levee {

// All messages must be complete and without fault.
CallPolicy BuildPolicy(const config::v1::Policy& message);
BackoffPolicy BuildReconnect(const config::v1::Reconnect& message);
OverloadPolicy BuildOverload(const config::v1::Overload& message);

}  // namespace levee
