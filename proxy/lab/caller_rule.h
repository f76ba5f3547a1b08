// SPDX-License-Identifier: Apache-2.0
// The rules by which the callers of a scenario retry, to compare runs.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "policy/retry_policy.h"

namespace levee {

struct PeerRule;

enum class CallerRule {
  kThis,       // as the scenario is written
  kNoSidecar,  // as written, but nobody has a sidecar
  kNoRetries,  // nobody has a sidecar, and nobody retries
  kPlain3,     // nobody has a sidecar, and everybody makes up to three attempts
  // Nobody has a sidecar, and everybody retries as that peer does (lab/peer_retries.h).
  kGrpcA6,
  kEnvoyIstio,
  kAws2026,
};

const char* NameOf(CallerRule rule);
std::vector<std::string> CallerRuleNames();
// Returns the rule of that name; nullopt if there is none.
std::optional<CallerRule> CallerRuleOf(const std::string& name);

// Returns the peer's rule that it stands for; nullptr: none.
const PeerRule* PeerRuleOf(CallerRule rule);

// Returns how often a caller itself calls again under the rule, unless it is a peer's. `own`: as
// the scenario has it.
int RetriesUnder(CallerRule rule, int own);

// Returns the policy of calls that go through no sidecar: one attempt, refused by nobody.
const CallPolicy& WithoutSidecar();

}  // namespace levee
