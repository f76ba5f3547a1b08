// SPDX-License-Identifier: Apache-2.0
#include "cli/log_sink.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "base/text.h"
#include "log/event_text.h"
#include "net/event_loop.h"

namespace levee {
namespace {

// The name of a level as terminals show it in colour.
std::string Coloured(LogLevel level) {
  constexpr std::string_view kPlain = "\033[m";
  std::string_view colour = "\033[32m";  // green
  if (level == LogLevel::kDebug) colour = "\033[36m";
  if (level == LogLevel::kWarning) colour = "\033[33m\033[1m";
  if (level == LogLevel::kError) colour = "\033[31m\033[1m";
  return absl::StrCat(Abseil(colour), Abseil(LogLevelName(level)), Abseil(kPlain));
}

std::string TextLine(const LogEvent& event, bool colours) {
  const LogLevel level = LevelOf(event.kind);
  return absl::StrCat(
      absl::FormatTime("%Y-%m-%dT%H:%M:%E3S%Ez", net::WallClock(), absl::LocalTimeZone()), " ",
      colours ? Coloured(level) : std::string(LogLevelName(level)), " ", EventText(event), "\n");
}

}  // namespace

LogLevel ParseLogLevel(std::string_view name) {
  if (name == "trace" || name == "debug") return LogLevel::kDebug;
  if (name == "info") return LogLevel::kInfo;
  if (name == "warning") return LogLevel::kWarning;
  if (name == "error") return LogLevel::kError;
  return LogLevel::kOff;
}

EventLog::Sink LineSink(LogFormat format, bool colours, net::LineWriter& lines) {
  return [format, colours, &lines](const LogEvent& event) {
    lines.Write(format == LogFormat::kJson ? EventJson(event, net::WallClock()) + "\n"
                                           : TextLine(event, colours));
  };
}

}  // namespace levee
