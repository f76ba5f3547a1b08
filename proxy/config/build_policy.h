// From checked messages to the plain values of policy/.
#pragma once

#include "levee/config/v1/config.pb.h"
#include "policy/retry_policy.h"

namespace levee {

// All of these are given complete messages without fault.
CallPolicy BuildPolicy(const config::v1::Policy& message);
BackoffPolicy BuildReconnect(const config::v1::Reconnect& message);
OverloadPolicy BuildOverload(const config::v1::Overload& message);

}  // namespace levee
