// SPDX-License-Identifier: Apache-2.0
// Where a running sidecar's events go: standard error, by spdlog.
#pragma once

#include <string_view>

#include "log/event_log.h"

namespace levee {

enum class LogFormat { kText, kJson };

// The level of --log-level. No event has the level trace or critical: trace is debug, and critical
// is off.
LogLevel ParseLogLevel(std::string_view name);

// Writes one line for each event, stamped with the wall clock: text for people, in colour on a
// terminal, or JSON. Any thread.
EventLog::Sink StandardErrorSink(LogFormat format);

}  // namespace levee
