// SPDX-License-Identifier: Apache-2.0
#include "lab/peer_retries.h"

#include <algorithm>

#include "sim/app_loop.h"

namespace levee {
namespace {

BackoffPolicy Exponential(absl::Duration initial, double multiplier, absl::Duration max) {
  BackoffPolicy backoff;
  backoff.initial = initial;
  backoff.multiplier = multiplier;
  backoff.max = max;
  return backoff;
}

PeerRule MakeGrpcA6() {
  PeerRule rule{.max_attempts = 4, .codes = {StatusCode::kUnavailable}};
  rule.backoff = Exponential(absl::Milliseconds(100), 2, absl::Seconds(1));
  rule.backoff.jitter = Jitter::kFactor;
  rule.backoff.factor = 0.2;
  rule.tokens = 10;
  rule.per_success = 0.1;
  return rule;
}

PeerRule MakeEnvoyIstio() {
  PeerRule rule{.codes = {StatusCode::kUnavailable, StatusCode::kCancelled}};
  // 25 ms and 75 ms, of which Envoy's law makes the two that there are.
  rule.backoff = Exponential(absl::Milliseconds(25), 3, absl::Milliseconds(250));
  return rule;
}

PeerRule MakeAws2026() {
  PeerRule rule{.shares_deadline = false, .tokens = 500, .cost = 14, .throttling_cost = 5};
  rule.throttling = {StatusCode::kResourceExhausted};
  rule.codes = {StatusCode::kInternal, StatusCode::kUnavailable, StatusCode::kDeadlineExceeded,
                StatusCode::kResourceExhausted};
  rule.backoff = Exponential(absl::Milliseconds(50), 2, absl::Seconds(20));
  rule.throttling_backoff = Exponential(absl::Seconds(1), 2, absl::Seconds(20));
  return rule;
}

}  // namespace

const PeerRule& GrpcA6() {
  static const PeerRule rule = MakeGrpcA6();
  return rule;
}

const PeerRule& EnvoyIstio() {
  static const PeerRule rule = MakeEnvoyIstio();
  return rule;
}

const PeerRule& Aws2026() {
  static const PeerRule rule = MakeAws2026();
  return rule;
}

std::optional<absl::Duration> PeerRetries::OnEnd(LoopProgress& request, StatusCode code) {
  if (code == StatusCode::kOk) {
    OnSuccess(request);
    return std::nullopt;
  }
  if (!rule_.codes.Has(code)) return std::nullopt;
  const bool full = request.calls >= rule_.max_attempts;
  if (rule_.per_success > 0) tokens_ = std::max(tokens_ - 1, 0.0);
  if (full || !Pay(request, code)) return std::nullopt;
  const BackoffPolicy& backoff =
      rule_.throttling.Has(code) ? rule_.throttling_backoff : rule_.backoff;
  const DelayLaw law = LawOfDelay(backoff, request.calls, absl::ZeroDuration());
  return law.least + random_.Uniform() * static_cast<double>(law.steps) * law.step;
}

void PeerRetries::OnSuccess(const LoopProgress& request) {
  const double brought = rule_.cost > 0 ? std::max(request.paid, 1) : rule_.per_success;
  tokens_ = std::min(tokens_ + brought, rule_.tokens);
}

// Whether a retry may be made. It is paid for then.
bool PeerRetries::Pay(LoopProgress& request, StatusCode code) {
  if (rule_.per_success > 0) return tokens_ > rule_.tokens / 2;
  const int cost = rule_.throttling.Has(code) ? rule_.throttling_cost : rule_.cost;
  if (tokens_ < cost) return false;
  tokens_ -= cost;
  request.paid = cost;
  return true;
}

}  // namespace levee
