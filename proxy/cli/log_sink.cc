// SPDX-License-Identifier: Apache-2.0
#include "cli/log_sink.h"

#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

#include <memory>
#include <string>

#include "log/event_text.h"
#include "net/event_loop.h"

namespace levee {
namespace {

spdlog::level::level_enum SpdlogLevel(LogLevel level) {
  switch (level) {
    case LogLevel::kDebug:
      return spdlog::level::debug;
    case LogLevel::kInfo:
      return spdlog::level::info;
    case LogLevel::kWarning:
      return spdlog::level::warn;
    case LogLevel::kError:
      return spdlog::level::err;
    case LogLevel::kOff:
      return spdlog::level::off;
  }
  return spdlog::level::off;
}

}  // namespace

LogLevel ParseLogLevel(std::string_view name) {
  if (name == "trace" || name == "debug") return LogLevel::kDebug;
  if (name == "info") return LogLevel::kInfo;
  if (name == "warning") return LogLevel::kWarning;
  if (name == "error") return LogLevel::kError;
  return LogLevel::kOff;
}

EventLog::Sink StandardErrorSink(LogFormat format) {
  // Standard output is for the lines that name the bound addresses, so that scripts can read them.
  const auto logger = std::make_shared<spdlog::logger>(
      "levee", std::make_shared<spdlog::sinks::stderr_color_sink_mt>());
  logger->set_level(spdlog::level::trace);  // EventLog has already filtered by level.
  logger->set_pattern(format == LogFormat::kJson ? "%v" : "%Y-%m-%dT%H:%M:%S.%e%z %^%l%$ %v");
  return [logger, format](const LogEvent& event) {
    const std::string line =
        format == LogFormat::kJson ? EventJson(event, net::WallClock()) : EventText(event);
    logger->log(SpdlogLevel(LevelOf(event.kind)), "{}", line);
  };
}

}  // namespace levee
