// SPDX-License-Identifier: Apache-2.0
// The rules by which other clients and proxies retry, as their documents have them.
#pragma once

#include <cstdint>
#include <optional>

#include "absl/time/time.h"
#include "base/random.h"
#include "policy/backoff.h"
#include "wire/status.h"

namespace levee {

struct LoopProgress;

// One peer's rule. A caller has a stock of tokens towards one service. With none of the two kinds
// of cost nothing is bounded but the attempts.
struct PeerRule {
  int max_attempts = 3;
  StatusCodeSet codes;  // that are retried
  BackoffPolicy backoff;
  bool shares_deadline = true;  // the attempts of a request; else each has the whole of it
  double tokens = 0;            // of a full stock, which it is at first

  // gRPC's way: each failure takes a token, each success brings so much, and nothing is retried
  // with half of the stock or less. 0: it is not so.
  double per_success = 0;

  // AWS's way: a retry takes `cost`, and gives it back when it succeeds; a first attempt that
  // succeeds brings one. Behind a code of `throttling` the cost and the delay are others. 0: it is
  // not so.
  int cost = 0;
  int throttling_cost = 0;
  StatusCodeSet throttling;
  BackoffPolicy throttling_backoff;
};

// gRFC A6, client retries, with its examples of a policy and of throttling: 4 attempts of
// UNAVAILABLE, 100 ms doubled up to 1 s, +-20% (as gRPC's libraries have it now); 10 tokens, 0.1
// for a success. https://github.com/grpc/proposal/blob/master/A6-client-retries.md
const PeerRule& GrpcA6();

// Envoy as Istio configures each route of it: two retries of a refused connection or stream, of
// UNAVAILABLE and of CANCELLED, without a budget
// (https://istio.io/latest/docs/concepts/traffic-management/#retries). Envoy's delay before retry N
// is uniform from 0 to (2^N - 1) x 25 ms
// (https://www.envoyproxy.io/docs/envoy/latest/configuration/http/http_filters/router_filter).
const PeerRule& EnvoyIstio();

// The standard mode of AWS's SDKs with the defaults announced for November 2026: 3 attempts; a
// stock of 500 tokens, of which a retry takes 14, and 5 behind throttling; full jitter of 50 ms,
// and of 1 s behind throttling, doubled up to 20 s. HTTP 500 to 504 and timeouts are taken for
// INTERNAL, UNAVAILABLE and DEADLINE_EXCEEDED, and throttling for RESOURCE_EXHAUSTED.
// https://docs.aws.amazon.com/sdkref/latest/guide/feature-retry-behavior.html
const PeerRule& Aws2026();

// One caller that retries by a rule, which outlives it. Without clock.
class PeerRetries {
 public:
  PeerRetries(const PeerRule& rule, uint64_t seed)
      : rule_(rule), tokens_(rule.tokens), random_(seed) {}

  // A call of a request has ended. Returns after what time the caller makes another one; nullopt:
  // it does not.
  std::optional<absl::Duration> OnEnd(LoopProgress& request, StatusCode code);

 private:
  void OnSuccess(const LoopProgress& request);
  bool Pay(LoopProgress& request, StatusCode code);

  const PeerRule& rule_;
  double tokens_;
  Random random_;
};

}  // namespace levee
