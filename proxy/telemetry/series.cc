#include "telemetry/series.h"

#include <array>
#include <cstddef>

namespace levee {
namespace {

constexpr std::array<std::string_view, kRejects> kRejectNames = {
    "protocol_error", "not_http2", "not_grpc",     "metadata",
    "loop",           "no_route",  "not_captured", "bad_connect"};

constexpr std::array<std::string_view, kTunnelFailures> kTunnelFailureNames = {"resolve", "connect",
                                                                               "loop"};

constexpr std::array<std::string_view, kEndpointStates> kEndpointStateNames = {
    "ready", "connecting", "failing", "ejected"};

}  // namespace

std::string_view TunnelFailureName(TunnelFailure failure) {
  return kTunnelFailureNames.at(static_cast<size_t>(failure));
}

std::string_view RejectName(Reject reject) { return kRejectNames.at(static_cast<size_t>(reject)); }

std::string_view EndpointStateName(EndpointState state) {
  return kEndpointStateNames.at(static_cast<size_t>(state));
}

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
  retry_backoff.Reset();
  transparent_retries.Reset();
  app_retries_admitted.Reset();
  app_retries_refused.Reset();
  rate_limited.Reset();
  marks_received.Reset();
  marks_sent.Reset();
  connections.Reset();
  endpoints.Reset();
}

void RateLimitSeries::Reset() {
  admitted.Reset();
  delayed.Reset();
  rejected.Reset();
}

}  // namespace levee
