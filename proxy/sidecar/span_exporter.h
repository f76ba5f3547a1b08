// SPDX-License-Identifier: Apache-2.0
// The exporter of spans of a running sidecar.
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "log/event_log.h"
#include "server/span_sink.h"
#include "settings/otlp_spec.h"
#include "telemetry/series.h"

namespace levee {

// Takes the spans of calls and sends them on in a thread of its own. The interface inverts a
// dependency: the exporter uses the gRPC library, in a layer above, so that this layer is free of
// it. cli/ hands in the function that makes it.
class SpanExporter : public SpanSink {
 public:
  // Sends to another receiver from now on; nullopt: to none, after one try to send what waits.
  // Does not wait for anything. The first one with a receiver starts the thread. One caller at a
  // time.
  virtual void Configure(const std::optional<OtlpSpec>& spec) = 0;

  // Tries to send what waits, for about a second, and ends the thread. The last call but Add, whose
  // spans are lost from now on.
  virtual void Stop() = 0;
};

// Makes an exporter that has no receiver yet. Both references outlive it.
using MakeSpanExporter =
    std::function<std::unique_ptr<SpanExporter>(SpanSeries& series, EventLog& log)>;

}  // namespace levee
