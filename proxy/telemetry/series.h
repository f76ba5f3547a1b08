// SPDX-License-Identifier: Apache-2.0
// One worker's share of every metric, as the call path writes it.
#pragma once

#include <string_view>

#include "absl/time/time.h"
#include "base/enum_values.h"
#include "settings/limits.h"
#include "telemetry/cells.h"
#include "telemetry/endpoint_census.h"
#include "telemetry/histogram.h"
#include "tls/result.h"
#include "wire/call_record.h"
#include "wire/overload_mark.h"
#include "wire/refusal.h"
#include "wire/status.h"

namespace levee {

// Why a caller was turned away before its call got a route and a policy.
enum class Reject {
  kProtocolError,  // The caller broke HTTP/2: the connection or the stream is reset.
  kNotHttp2,       // Neither an HTTP/2 preface nor CONNECT came.
  kNotGrpc,        // The content-type or the method is none of a gRPC call.
  kMetadata,       // There are more or larger fields than limits.metadata_* allow.
  kLoop,           // The call would come back to a listener of this sidecar.
  kNoRoute,
  kDenied,       // The route of the call denies it.
  kNotCaptured,  // The `capture` of the listener does not have the protocol.
  kBadConnect,   // No proxy can follow the CONNECT request.
};

// The label `reason` of levee_downstream_rejects_total.
constexpr std::string_view RejectName(Reject reject) {
  switch (reject) {
    case Reject::kProtocolError:
      return "protocol_error";
    case Reject::kNotHttp2:
      return "not_http2";
    case Reject::kNotGrpc:
      return "not_grpc";
    case Reject::kMetadata:
      return "metadata";
    case Reject::kLoop:
      return "loop";
    case Reject::kNoRoute:
      return "no_route";
    case Reject::kDenied:
      return "denied";
    case Reject::kNotCaptured:
      return "not_captured";
    case Reject::kBadConnect:
      return "bad_connect";
  }
  return "";
}
inline constexpr int kRejects = CountValues(RejectName);

// Why a CONNECT tunnel never reached its destination.
enum class TunnelFailure {
  kResolve,  // The name was not found, or not in time.
  kConnect,
  kLoop,  // The destination is a listener of this sidecar.
};

// The label `reason` of levee_tunnel_failures_total.
constexpr std::string_view TunnelFailureName(TunnelFailure failure) {
  switch (failure) {
    case TunnelFailure::kResolve:
      return "resolve";
    case TunnelFailure::kConnect:
      return "connect";
    case TunnelFailure::kLoop:
      return "loop";
  }
  return "";
}
inline constexpr int kTunnelFailures = CountValues(TunnelFailureName);

// A header for the guard that could not be read.
enum class GuardHeader { kPriority, kRetries, kTraceparent };

// The label `header` of levee_guard_headers_ignored_total.
constexpr std::string_view GuardHeaderName(GuardHeader header) {
  switch (header) {
    case GuardHeader::kPriority:
      return "levee-priority";
    case GuardHeader::kRetries:
      return "levee-retries";
    case GuardHeader::kTraceparent:
      return "traceparent";
  }
  return "";
}
inline constexpr int kGuardHeaders = CountValues(GuardHeaderName);

// How a request to a store ended.
enum class StoreResult { kOk, kError, kTimeout, kUnavailable };

// The label `result` of levee_store_requests_total.
constexpr std::string_view StoreResultName(StoreResult result) {
  switch (result) {
    case StoreResult::kOk:
      return "ok";
    case StoreResult::kError:
      return "error";
    case StoreResult::kTimeout:
      return "timeout";
    case StoreResult::kUnavailable:
      return "unavailable";
  }
  return "";
}
inline constexpr int kStoreResults = CountValues(StoreResultName);

// The fate of a span.
enum class SpanResult {
  kExported,
  kDropped,  // It found no place in the queue, or its receiver was away for too long.
  kRefused,  // The receiver does not want it.
};

// The label `result` of levee_otlp_spans_total.
constexpr std::string_view SpanResultName(SpanResult result) {
  switch (result) {
    case SpanResult::kExported:
      return "exported";
    case SpanResult::kDropped:
      return "dropped";
    case SpanResult::kRefused:
      return "refused";
  }
  return "";
}
inline constexpr int kSpanResults = CountValues(SpanResultName);

// The one that decides for a shared rate limit: the store, this sidecar by its last rate, or this
// sidecar by its share.
enum class LeaseState { kLeased, kStale, kFallback };

// The label `state` of levee_rate_limit_lease.
constexpr std::string_view LeaseStateName(LeaseState state) {
  switch (state) {
    case LeaseState::kLeased:
      return "leased";
    case LeaseState::kStale:
      return "stale";
    case LeaseState::kFallback:
      return "fallback";
  }
  return "";
}
inline constexpr int kLeaseStates = CountValues(LeaseStateName);

// A tie joins a call that the application serves, and one that it makes for it. This happens to it.
enum class TieEvent {
  kCallTied,       // A call that the application serves can be found by its trace.
  kTraceAdded,     // So can one that came without a trace: it was given one.
  kNoPlace,        // There was no place for it in the table.
  kMarkKept,       // A call that the application made was answered with a mark.
  kMarkPassed,     // The call that the application served was answered with it.
  kPriorityTaken,  // The application's call has the priority of the one that it is made for.
  kPriorityOwn,    // It has one of its own.
  kDeadlineTaken,  // It has no more time than the one that it is made for.
  kCancelled,      // It was ended, since the caller of that has gone.
};

// The labels of levee_tie_total.
constexpr std::string_view TieSubject(TieEvent event) {
  switch (event) {
    case TieEvent::kCallTied:
    case TieEvent::kTraceAdded:
    case TieEvent::kNoPlace:
      return "call";
    case TieEvent::kMarkKept:
    case TieEvent::kMarkPassed:
      return "mark";
    case TieEvent::kPriorityTaken:
    case TieEvent::kPriorityOwn:
      return "priority";
    case TieEvent::kDeadlineTaken:
      return "deadline";
    case TieEvent::kCancelled:
      return "cancel";
  }
  return "";
}
constexpr std::string_view TieResult(TieEvent event) {
  switch (event) {
    case TieEvent::kCallTied:
      return "tied";
    case TieEvent::kTraceAdded:
      return "trace_added";
    case TieEvent::kNoPlace:
      return "no_place";
    case TieEvent::kMarkKept:
      return "kept";
    case TieEvent::kMarkPassed:
      return "passed";
    case TieEvent::kPriorityTaken:
    case TieEvent::kDeadlineTaken:
      return "taken";
    case TieEvent::kPriorityOwn:
      return "own";
    case TieEvent::kCancelled:
      return "ended";
  }
  return "";
}
inline constexpr int kTieEvents = CountValues(TieResult);

// The priorities of calls, 32 by 32: the label `priority` of levee_guard_calls_total.
enum class PriorityBand { kFrom0, kFrom32, kFrom64, kFrom96 };
constexpr std::string_view PriorityBandName(PriorityBand band) {
  switch (band) {
    case PriorityBand::kFrom0:
      return "0-31";
    case PriorityBand::kFrom32:
      return "32-63";
    case PriorityBand::kFrom64:
      return "64-95";
    case PriorityBand::kFrom96:
      return "96-127";
  }
  return "";
}
inline constexpr int kPriorityBands = CountValues(PriorityBandName);

// How often a caller had tried a call before: the label `attempt` of levee_guard_arrivals_total.
enum class ArrivalClass { kFirst, kSecond, kThird, kFurther };
constexpr std::string_view ArrivalClassName(ArrivalClass arrival) {
  switch (arrival) {
    case ArrivalClass::kFirst:
      return "0";
    case ArrivalClass::kSecond:
      return "1";
    case ArrivalClass::kThird:
      return "2";
    case ArrivalClass::kFurther:
      return "3+";
  }
  return "";
}
inline constexpr int kArrivalClasses = CountValues(ArrivalClassName);

// The series below are written by the thread of the worker they belong to and by no other. They
// start on cache lines of their own, so that workers do not slow each other down.
inline constexpr size_t kCacheLine = 64;

// The series of one (upstream, method). They take about 9 KiB, of which a call touches a few cache
// lines.
struct alignas(kCacheLine) MethodSeries {
  using Durations = Histogram<kDurationBounds>;  // nanoseconds
  using Further = Histogram<kFurtherBounds>;

  using ByCode = ByEnum<Durations, StatusCode, kStatusCodes>;
  using ByKindAndCode = ByEnum<ByCode, CallKind, kCallKinds>;

  ByKindAndCode calls;                       // by the code that the caller saw
  ByKindAndCode attempts;                    // by the code that the attempt ended with
  Histogram<kAttemptBounds> attempts_ok;     // attempts per call that ended well
  Histogram<kAttemptBounds> attempts_error;  // attempts per call that did not
  ByEnum<Counter, RefusalReason, kRefusalReasons> retries_refused;
  // By what made the retry necessary, and by the code of the failure before it.
  ByEnum<ByEnum<Counter, StatusCode, kStatusCodes>, RetryTrigger, kRetryTriggers> retries;

  // Of calls that had more than one attempt. A call that had no attempt of the kind is not counted
  // in the histogram of that kind.
  Further retries_per_call;  // neither transparent ones nor hedges
  Further transparent_per_call;
  Further hedges_per_call;
  Histogram<kDelayBounds> retry_delay;  // nanoseconds of a call without an active attempt

  void Reset();  // sets all to 0, as Counter::Reset does
};

// Handshakes of TLS: those with the endpoints of an upstream, those with the servers of a store, or
// those with callers.
struct TlsSeries {
  using ByVersion = ByEnum<Counter, tls::Version, tls::kVersions>;

  ByEnum<ByVersion, tls::Result, tls::kResults> handshakes;
  Histogram<kDurationBounds> seconds;  // nanoseconds, from the connection's start

  void Count(tls::Result result, tls::Version version, absl::Duration took);
  void Reset();
};

// The series of one upstream.
struct alignas(kCacheLine) UpstreamSeries {
  using BySign = ByEnum<Counter, AppRetrySign, kAppRetrySigns>;
  using ByScope = ByEnum<Counter, OverloadScope, kOverloadScopes>;

  ByEnum<Counter, StreamBound, kStreamBounds> streams_ended;
  Histogram<kDelayBounds> retry_backoff;  // nanoseconds, as chosen
  Counter transparent_retries;
  ByEnum<Counter, WaitEnd, kWaitEnds> waits;  // of retries, for a success to pay for them
  Histogram<kDelayBounds> retry_wait;         // nanoseconds that each took
  BySign app_retries_admitted;
  BySign app_retries_refused;
  Counter rate_limited;  // calls that a limit of their policy refused
  ByEnum<Counter, ThrottleDecision, kThrottleDecisions> throttle;
  ByScope marks_received;
  ByScope marks_sent;

  // upstream/ keeps these.
  Gauge connections;
  EndpointCensus endpoints;
  TlsSeries tls;

  void Reset();
};

// The series that belong to no upstream.
struct alignas(kCacheLine) WorkerSeries {
  // server/ keeps these.
  Gauge active_calls;
  Gauge active_streams;  // of these
  Gauge downstream_connections;
  Gauge tunnels;               // CONNECT tunnels whose bytes pass untouched
  Counter tunnelled_sent;      // bytes toward the destination
  Counter tunnelled_received;  // bytes from the destination
  ByEnum<Counter, TunnelFailure, kTunnelFailures> tunnel_failures;

  ByEnum<Counter, Limit, kLimits> limit_hits;
  ByEnum<Counter, Reject, kRejects> rejects;
  ByEnum<Counter, GuardHeader, kGuardHeaders> guard_headers_ignored;
  ByEnum<Counter, TieEvent, kTieEvents> ties;
  Counter broken_calls;   // ended since an invariant of theirs was broken
  Counter spans_dropped;  // that found no place
  TlsSeries tls;
};

// The series of the spans that found a place; the exporter's thread alone writes them.
struct alignas(kCacheLine) SpanSeries {
  ByEnum<Counter, SpanResult, kSpanResults> spans;
};

// The series of the guard of one upstream.
struct alignas(kCacheLine) GuardSeries {
  using ByBand = ByEnum<Counter, PriorityBand, kPriorityBands>;

  ByBand admitted;
  ByBand queued;
  ByEnum<ByBand, GuardReason, kGuardReasons> refused;
  ByEnum<Counter, ArrivalClass, kArrivalClasses> arrivals;
  Histogram<kDurationBounds> waits;  // nanoseconds in the queue, of calls that waited

  void Reset();
};

// The series of the idempotency stores of one upstream.
struct alignas(kCacheLine) DedupeSeries {
  ByEnum<Counter, DedupeResult, kDedupeResults> calls;

  void Reset();
};

// The series of one policy and the shadow of a route that has it.
struct alignas(kCacheLine) ShadowSeries {
  ByEnum<Counter, ShadowOutcome, kShadowOutcomes> calls;

  void Reset();
};

// The series of one store; its thread alone writes them.
struct alignas(kCacheLine) StoreSeries {
  ByEnum<Counter, StoreResult, kStoreResults> requests;
  Histogram<kDurationBounds> seconds;  // nanoseconds of the requests that had a reply
  Gauge connected;                     // 1 or 0
  TlsSeries tls;

  void Reset();
};

// The series of one configured rate limit.
struct alignas(kCacheLine) RateLimitSeries {
  Counter admitted;
  Counter delayed;
  Counter rejected;

  void Reset();
};

}  // namespace levee
