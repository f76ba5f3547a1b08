// One worker's share of every metric, as the call path writes it.
#pragma once

#include <string_view>

#include "telemetry/cells.h"
#include "telemetry/histogram.h"
#include "wire/overload_mark.h"
#include "wire/refusal.h"
#include "wire/status.h"

namespace levee {

// A bound that was reached. Label `limit` of levee_limit_hits_total; those of the configuration
// carry their field's name.
enum class Limit {
  kReplayBytes,
  kStreamsPerConnection,
  kMetadataBytes,
  kMetadataFields,
  kMethodLabels,
  kDestinations,
  kPendingAttempts,  // attempts that wait for a connection to become ready
  kRoutesCached,     // a worker's (authority, path) cache
  kMaxKeys,          // of a rate limit
  kHandshake,        // time for a caller to say which protocol its connection carries
  kAccessLog,        // lines that its queue or its file could not take
  kMetricSeries,
  kConnections,
  kDescriptors,  // of the process: a caller's connection could not be accepted
  kResets,
  kControlFrames,
  kHeaderBlock,
  kPendingFrames,
  kOutputBytes,
  kSendTimeout,
};
inline constexpr int kLimits = 20;
std::string_view LimitName(Limit limit);  // "replay_bytes", ...

// Why a caller was turned away before its call got a route and a policy. Label `reason` of
// levee_downstream_rejects_total.
enum class Reject {
  kProtocolError,  // HTTP/2 broken by the caller: the connection or the stream is reset
  kNotHttp2,       // neither an HTTP/2 preface nor CONNECT
  kNotGrpc,        // content-type or method of a request that is no gRPC call
  kMetadata,       // more or larger fields than limits.metadata_* allow
  kLoop,           // the call would come back to a listener of this sidecar
  kNoRoute,
  kNotCaptured,  // a protocol that the listener's capture does not have
  kBadConnect,   // a CONNECT request that no proxy can follow
};
inline constexpr int kRejects = 8;
std::string_view RejectName(Reject reject);  // "protocol_error", ...

// Why a CONNECT tunnel never reached its destination. Label `reason` of
// levee_tunnel_failures_total.
enum class TunnelFailure {
  kResolve,  // the name was not found, or not in time
  kConnect,
  kLoop,  // the destination is a listener of this sidecar
};
inline constexpr int kTunnelFailures = 3;
std::string_view TunnelFailureName(TunnelFailure failure);  // "resolve", ...

// Label `state` of levee_endpoints.
enum class EndpointState { kReady, kConnecting, kFailing, kEjected };
inline constexpr int kEndpointStates = 4;
std::string_view EndpointStateName(EndpointState state);  // "ready", ...

// The series below are written by the thread of the worker they belong to and by no other. They
// start on cache lines of their own, so that workers do not slow each other down.
inline constexpr size_t kCacheLine = 64;

// One (upstream, method). About 5 KiB, of which a call touches a few cache lines.
struct alignas(kCacheLine) MethodSeries {
  using Durations = Histogram<kDurationBounds>;  // nanoseconds
  using Further = Histogram<kFurtherBounds>;

  ByEnum<Durations, StatusCode, kStatusCodes> calls;     // by the code that the caller saw
  ByEnum<Durations, StatusCode, kStatusCodes> attempts;  // by the code that the attempt ended with
  Histogram<kAttemptBounds> attempts_ok;                 // attempts per call that ended well
  Histogram<kAttemptBounds> attempts_error;              // attempts per call that did not
  ByEnum<Counter, RefusalReason, kRefusalReasons> retries_refused;
  // And by the code of the failure.
  ByEnum<ByEnum<Counter, StatusCode, kStatusCodes>, RetryTrigger, kRetryTriggers> retries;

  // Of calls that had more than one attempt. Those without one of the kind are not counted in it.
  Further retries_per_call;  // neither transparent ones nor hedges
  Further transparent_per_call;
  Further hedges_per_call;
  Histogram<kDelayBounds> retry_delay;  // nanoseconds in a call without an active attempt

  void Reset();  // all to 0, as Counter::Reset
};

// One upstream.
struct alignas(kCacheLine) UpstreamSeries {
  using ByScope = ByEnum<Counter, OverloadScope, kOverloadScopes>;

  Histogram<kDelayBounds> retry_backoff;  // nanoseconds, as chosen
  Counter transparent_retries;
  Counter app_retries_admitted;
  Counter app_retries_refused;
  Counter rate_limited;  // calls that a limit of their policy refused
  ByScope marks_received;
  ByScope marks_sent;

  // Kept by whoever owns the connections.
  Gauge connections;
  ByEnum<Gauge, EndpointState, kEndpointStates> endpoints;

  void Reset();
};

// What belongs to no upstream.
struct alignas(kCacheLine) WorkerSeries {
  // Kept by the server.
  Gauge active_calls;
  Gauge downstream_connections;
  Gauge tunnels;               // CONNECT tunnels whose bytes pass untouched
  Counter tunnelled_sent;      // bytes toward the destination
  Counter tunnelled_received;  // and back
  ByEnum<Counter, TunnelFailure, kTunnelFailures> tunnel_failures;

  ByEnum<Counter, Limit, kLimits> limit_hits;
  ByEnum<Counter, Reject, kRejects> rejects;
};

// One configured rate limit.
struct alignas(kCacheLine) RateLimitSeries {
  Counter admitted;
  Counter delayed;
  Counter rejected;

  void Reset();
};

}  // namespace levee
