// SPDX-License-Identifier: Apache-2.0
#include "server/plan_parts.h"

namespace levee {
namespace {

CallPlanParts MakePlanParts(RpcEnvironment& environment, CallPlan& plan) {
  const PlannedFeatures& features = plan.features;
  CallPlanParts parts{.policy = *features.calls.policy,
                      .overload = plan.snapshot->overload,
                      .budget = *features.budget.budget,
                      .latency = plan.destination->latency,
                      .failed_calls = plan.destination->failed_calls,
                      .usual_answer = plan.usual_answer,
                      .worker = environment.worker,
                      .random = environment.random,
                      .replay = environment.replay,
                      .upstream = plan.destination->upstream,
                      .idempotent = features.calls.idempotent,
                      .hedge = features.calls.hedge,
                      .admission = features.limits.leased ? &environment.leases : nullptr,
                      .retries = plan.inbound ? nullptr : &plan.destination->retries,
                      .waiting = plan.waiting.get(),
                      .inbound = plan.inbound,
                      .guard = plan.guard.line.get()};
  features.ShowTo(parts);
  return parts;
}

}  // namespace

CallParts PartsOf(CallHost& host, RpcEnvironment& environment, CallPlan& plan,
                  const ConnectionOrigin& origin) {
  if (!plan.parts.has_value()) plan.parts.emplace(MakePlanParts(environment, plan));
  return {.host = host,
          .plan = *plan.parts,
          .method = *plan.kind.method,
          .sender = origin.sender,
          .guard_method = plan.guard.method};
}

}  // namespace levee
