// SPDX-License-Identifier: Apache-2.0
#include "telemetry/series.h"

namespace levee {

void MethodSeries::Reset() {
  calls.Reset();
  attempts.Reset();
  attempts_ok.Reset();
  attempts_error.Reset();
  retries_refused.Reset();
  retries.Reset();
  retries_per_call.Reset();
  transparent_per_call.Reset();
  hedges_per_call.Reset();
  retry_delay.Reset();
}

void UpstreamSeries::Reset() {
  streams_ended.Reset();
  retry_backoff.Reset();
  transparent_retries.Reset();
  waits.Reset();
  retry_wait.Reset();
  app_retries_admitted.Reset();
  app_retries_refused.Reset();
  rate_limited.Reset();
  throttle.Reset();
  marks_received.Reset();
  marks_sent.Reset();
  connections.Reset();
  endpoints.Reset();
  tls.Reset();
}

void TlsSeries::Count(tls::Result result, tls::Version version, absl::Duration took) {
  handshakes[result][version].Add();
  seconds.Observe(absl::ToInt64Nanoseconds(took));
}

void TlsSeries::Reset() {
  handshakes.Reset();
  seconds.Reset();
}

void RateLimitSeries::Reset() {
  admitted.Reset();
  delayed.Reset();
  rejected.Reset();
}

void DedupeSeries::Reset() { calls.Reset(); }

void ShadowSeries::Reset() { calls.Reset(); }

void StoreSeries::Reset() {
  requests.Reset();
  seconds.Reset();
  connected.Reset();
  tls.Reset();
}

void GuardSeries::Reset() {
  admitted.Reset();
  queued.Reset();
  refused.Reset();
  arrivals.Reset();
  waits.Reset();
}

}  // namespace levee
