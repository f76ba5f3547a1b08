// SPDX-License-Identifier: Apache-2.0
// The objects that a call of a plan works with.
#pragma once

#include "call/call_books.h"
#include "call/call_host.h"
#include "server/call_plan.h"
#include "server/rpc_stream.h"

namespace levee {

// Returns what the call of `host` works with. `environment`: that of the plan's worker. `origin`: of
// the call's connection. All of it outlives the call.
CallParts PartsOf(CallHost& host, RpcEnvironment& environment, CallPlan& plan,
                  const ConnectionOrigin& origin);

}  // namespace levee
