// SPDX-License-Identifier: Apache-2.0
// Spans as OTLP has them, with the names of OpenTelemetry's semantic conventions for RPC.
#pragma once

#include "opentelemetry/proto/trace/v1/trace.pb.h"
#include "trace/call_spans.h"

namespace levee {

// Adds the call's span (of kind SERVER: Levee serves its caller) and below it the span of each
// attempt (of kind CLIENT).
void AddSpans(const CallSpans& call, opentelemetry::proto::trace::v1::ScopeSpans& to);

}  // namespace levee
