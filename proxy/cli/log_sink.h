// SPDX-License-Identifier: Apache-2.0
// Makes lines of a running sidecar's events, for standard error.
#pragma once

#include <string_view>

#include "log/event_log.h"
#include "net/line_writer.h"

namespace levee {

enum class LogFormat { kText, kJson };

// Returns the level for a value of --log-level. No event has the level trace or critical, so trace
// means debug, and critical means off.
LogLevel ParseLogLevel(std::string_view name);

// Returns a sink that gives one line to `lines`, which outlives it, for each event, with the time
// of the wall clock. The line is text for people, with colours if `colours`, or JSON. Any thread
// may call the sink, and none waits.
EventLog::Sink LineSink(LogFormat format, bool colours, net::LineWriter& lines);

}  // namespace levee
