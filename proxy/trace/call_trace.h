// SPDX-License-Identifier: Apache-2.0
// The trace that a call belongs to, the ids of its spans, and whether it has any. Without clock and
// I/O.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "absl/functional/function_ref.h"
#include "absl/time/time.h"
#include "base/random.h"
#include "trace/call_spans.h"
#include "wire/call_record.h"
#include "wire/metadata.h"
#include "wire/traceparent.h"

namespace levee {

// The facts of an ended call that are not in its record. Views.
struct TracedCall {
  std::string_view path;  // "/shop.Cart/Add"
  std::string_view authority;
  std::string_view listener;
  std::string_view upstream;
  std::string_view policy;
  std::string_view message;  // of a code other than OK
  std::string_view trace_state;
};

// Whether a trace of this id is among the share `sample`, 0 to 1, of all traces. Every sidecar, and
// every sampler of OpenTelemetry that goes by the random part of the id, decides alike.
bool IsSampled(const TraceId& id, double sample);

// One thread.
class CallTrace {
 public:
  // Returns a string such as "10.0.0.7:50051" for an endpoint of a record.
  using EndpointNames = absl::FunctionRef<std::string(int64_t)>;

  // Of a call that came with the only and valid traceparent `caller`. Returns nullptr if that says
  // that the trace is not sampled: then the call has no spans.
  static std::unique_ptr<CallTrace> Follow(const Traceparent& caller, Random& random);

  // Of a call that came without one: its trace begins here. `id`: of the trace.
  static std::unique_ptr<CallTrace> Begin(const TraceId& id, double sample, Random& random);

  const TraceId& trace_id() const { return trace_id_; }

  // Whether the traceparent of the call's attempts is Levee's alone, and no caller's.
  bool begun_here() const { return parent_id_ == 0; }

  // Returns the id of the span of the attempt whose record has this index.
  uint64_t AttemptSpanId(uint32_t record) const { return SpanId(record + 1); }

  // Returns the traceparent with which that attempt leaves, if the trace begins here. It says
  // "sampled" if the call is known to have spans: by its share, or since it is retried.
  std::string AttemptTraceparent(uint32_t record) const;

  // Returns the spans of the call, which has ended at `now` of the wall clock; nullopt if it has
  // none.
  std::optional<CallSpans> End(const TracedCall& call, const CallRecord& record,
                               EndpointNames endpoint_name, absl::Time now) const;

 private:
  CallTrace(const TraceId& id, uint64_t parent_id, bool sampled, Random& random);

  // Returns the id of the call's span for 0, and those of its attempts for 1, 2, ...
  uint64_t SpanId(uint64_t number) const;

  const TraceId trace_id_;
  const uint64_t parent_id_;  // 0: the trace begins here
  const bool sampled_;        // whatever becomes of the call
  const uint64_t seed_;       // of the ids of its spans
};

}  // namespace levee
