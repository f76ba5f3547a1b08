// SPDX-License-Identifier: Apache-2.0
#include "lab/caller_rule.h"

#include "lab/peer_retries.h"

namespace levee {
namespace {

constexpr CallerRule kRules[] = {
    CallerRule::kThis,   CallerRule::kNoSidecar,  CallerRule::kNoRetries, CallerRule::kPlain3,
    CallerRule::kGrpcA6, CallerRule::kEnvoyIstio, CallerRule::kAws2026};

CallPolicy PassThrough() {
  CallPolicy policy;
  policy.retry.max_attempts = 1;
  policy.retry.app_retries = AppRetries::kIgnore;
  policy.retry.app_retries_loops = AppRetries::kIgnore;
  policy.retry.exhausted = ExhaustedMode::kKeep;
  policy.retry.min_remaining = false;
  policy.throttle = std::nullopt;
  return policy;
}

}  // namespace

const char* NameOf(CallerRule rule) {
  switch (rule) {
    case CallerRule::kThis:
      return "this";
    case CallerRule::kNoSidecar:
      return "no-sidecar";
    case CallerRule::kNoRetries:
      return "no-retries";
    case CallerRule::kPlain3:
      return "plain-3";
    case CallerRule::kGrpcA6:
      return "grpc-a6";
    case CallerRule::kEnvoyIstio:
      return "envoy-istio";
    case CallerRule::kAws2026:
      return "aws-2026";
  }
  return "";
}

std::vector<std::string> CallerRuleNames() {
  std::vector<std::string> names;
  for (const CallerRule rule : kRules) names.emplace_back(NameOf(rule));
  return names;
}

std::optional<CallerRule> CallerRuleOf(const std::string& name) {
  for (const CallerRule rule : kRules) {
    if (name == NameOf(rule)) return rule;
  }
  return std::nullopt;
}

const PeerRule* PeerRuleOf(CallerRule rule) {
  switch (rule) {
    case CallerRule::kGrpcA6:
      return &GrpcA6();
    case CallerRule::kEnvoyIstio:
      return &EnvoyIstio();
    case CallerRule::kAws2026:
      return &Aws2026();
    default:
      return nullptr;
  }
}

int RetriesUnder(CallerRule rule, int own) {
  switch (rule) {
    case CallerRule::kNoRetries:
      return 0;
    case CallerRule::kPlain3:
      return 2;
    default:
      return own;
  }
}

const CallPolicy& WithoutSidecar() {
  static const CallPolicy policy = PassThrough();
  return policy;
}

}  // namespace levee
