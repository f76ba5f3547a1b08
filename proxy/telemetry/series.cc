#include "telemetry/series.h"

#include <array>
#include <cstddef>

namespace levee {
namespace {

constexpr std::array<std::string_view, kLimits> kLimitNames = {
    "replay_bytes", "streams_per_connection", "metadata_bytes", "metadata_fields", "method_labels",
    "destinations", "pending_attempts",       "routes_cached",  "max_keys",        "handshake",
    "access_log"};

constexpr std::array<std::string_view, kRejects> kRejectNames = {
    "protocol_error", "not_http2", "not_grpc",     "metadata",
    "loop",           "no_route",  "not_captured", "bad_connect"};

constexpr std::array<std::string_view, kTunnelFailures> kTunnelFailureNames = {"resolve", "connect",
                                                                               "loop"};

constexpr std::array<std::string_view, kEndpointStates> kEndpointStateNames = {
    "ready", "connecting", "failing", "ejected"};

}  // namespace

std::string_view LimitName(Limit limit) { return kLimitNames.at(static_cast<size_t>(limit)); }

std::string_view TunnelFailureName(TunnelFailure failure) {
  return kTunnelFailureNames.at(static_cast<size_t>(failure));
}

std::string_view RejectName(Reject reject) { return kRejectNames.at(static_cast<size_t>(reject)); }

std::string_view EndpointStateName(EndpointState state) {
  return kEndpointStateNames.at(static_cast<size_t>(state));
}

}  // namespace levee
