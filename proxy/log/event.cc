// SPDX-License-Identifier: Apache-2.0
#include "log/event.h"

namespace levee {

std::string_view LogLevelName(LogLevel level) {
  switch (level) {
    case LogLevel::kDebug:
      return "debug";
    case LogLevel::kInfo:
      return "info";
    case LogLevel::kWarning:
      return "warning";
    case LogLevel::kError:
      return "error";
    case LogLevel::kOff:
      return "off";
  }
  return "";
}

// FactsOf takes the row by the kind's number.
static_assert([] {
  for (size_t i = 0; i < kEventKindCount; ++i) {
    if (static_cast<size_t>(kEventKinds[i].kind) != i) return false;
  }
  return kEventKindCount == static_cast<size_t>(EventKind::kCallDecided) + 1;
}());

}  // namespace levee
