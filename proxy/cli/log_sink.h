// SPDX-License-Identifier: Apache-2.0
// Writes a running sidecar's events to standard error, by spdlog.
#pragma once

#include <string_view>

#include "log/event_log.h"

namespace levee {

enum class LogFormat { kText, kJson };

// Returns the level for a value of --log-level. No event has the level trace or critical, so trace
// means debug, and critical means off.
LogLevel ParseLogLevel(std::string_view name);

// Returns a sink that writes one line for each event, with the time of the wall clock. The line is
// text for people, in colour on a terminal, or JSON. Any thread may call the sink.
EventLog::Sink StandardErrorSink(LogFormat format);

}  // namespace levee
