// SPDX-License-Identifier: Apache-2.0
// Every bound of a sidecar that has a name, in one table.
#pragma once

#include <cstdint>
#include <string_view>

#include "absl/time/time.h"
#include "base/enum_values.h"

// The table, with two kinds of rows:
//
// - CONFIGURED(enumerator, name, type) is the field `name` of message Limits in
//   protos/levee/config/v1/config.proto. That field has the bound's default, its least and its
//   greatest value, its description, and what happens when it is reached. `type` is int64_t for a
//   size in bytes, int for a number, and absl::Duration for a time, which is infinite for `none`.
// - FIXED(enumerator, name) is any other bound. docs/limits.md describes it.
//
// Each row makes a value of Limit, with `name` as its label, and a configured one also makes a
// field of Limits, which config/build.cc fills.
#define LEVEE_LIMITS(CONFIGURED, FIXED)                          \
  CONFIGURED(kMemory, memory, int64_t)                           \
  CONFIGURED(kReplayBytes, replay_bytes, int64_t)                \
  CONFIGURED(kStreamsPerConnection, streams_per_connection, int) \
  CONFIGURED(kMetadataBytes, metadata_bytes, int64_t)            \
  CONFIGURED(kMetadataFields, metadata_fields, int)              \
  CONFIGURED(kMethodLabels, method_labels, int)                  \
  CONFIGURED(kDestinations, destinations, int)                   \
  FIXED(kPendingAttempts, pending_attempts)                      \
  FIXED(kEndpointConnections, connections_per_endpoint)          \
  FIXED(kRoutesCached, routes_cached)                            \
  FIXED(kMaxKeys, max_keys)                                      \
  FIXED(kHandshake, handshake)                                   \
  FIXED(kHeaderTime, header_time)                                \
  FIXED(kHeaderBlocks, header_blocks)                            \
  FIXED(kTlsMessages, tls_messages)                              \
  FIXED(kAccessLog, access_log)                                  \
  FIXED(kLog, log)                                               \
  CONFIGURED(kMetricSeries, metric_series, int)                  \
  CONFIGURED(kConnections, connections, int)                     \
  FIXED(kDescriptors, descriptors)                               \
  CONFIGURED(kResets, resets_per_second, int)                    \
  CONFIGURED(kControlFrames, idle_frames_per_second, int)        \
  CONFIGURED(kHeaderBlock, header_block_bytes, int64_t)          \
  CONFIGURED(kPendingFrames, pending_frames, int)                \
  CONFIGURED(kOutputBytes, output_bytes, int64_t)                \
  CONFIGURED(kSendTimeout, send_timeout, absl::Duration)         \
  CONFIGURED(kIdleTimeout, idle_timeout, absl::Duration)         \
  CONFIGURED(kWaitingCalls, waiting_calls, int)                  \
  CONFIGURED(kHandshakes, handshakes, int)                       \
  FIXED(kFailedCalls, failed_calls)                              \
  FIXED(kMethodKinds, method_kinds)                              \
  FIXED(kLoneCalls, lone_calls)                                  \
  FIXED(kDedupeBytes, dedupe_bytes)                              \
  FIXED(kOtlpSpans, otlp_spans)

namespace levee {

// The configured bounds, by name. config.proto has the defaults. 0: not given, and without one
// default (peer_limits.h, sidecar/memory_watch.h); or it does not come from a configuration.
struct Limits {
#define LEVEE_CONFIGURED(enumerator, name, type) type name{};
#define LEVEE_FIXED(enumerator, name)
  LEVEE_LIMITS(LEVEE_CONFIGURED, LEVEE_FIXED)
#undef LEVEE_CONFIGURED
#undef LEVEE_FIXED
};

// A bound that was reached. It is counted in levee_limit_hits_total.
enum class Limit {
#define LEVEE_CONFIGURED(enumerator, name, type) enumerator,
#define LEVEE_FIXED(enumerator, name) enumerator,
  LEVEE_LIMITS(LEVEE_CONFIGURED, LEVEE_FIXED)
#undef LEVEE_CONFIGURED
#undef LEVEE_FIXED
};

// The label `limit` of levee_limit_hits_total: "replay_bytes", ...
constexpr std::string_view LimitName(Limit limit) {
  switch (limit) {
#define LEVEE_CONFIGURED(enumerator, name, type) \
  case Limit::enumerator:                        \
    return #name;
#define LEVEE_FIXED(enumerator, name) LEVEE_CONFIGURED(enumerator, name, )
    LEVEE_LIMITS(LEVEE_CONFIGURED, LEVEE_FIXED)
#undef LEVEE_CONFIGURED
#undef LEVEE_FIXED
  }
  return "";
}
inline constexpr int kLimits = CountValues(LimitName);

}  // namespace levee
