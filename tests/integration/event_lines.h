// SPDX-License-Identifier: Apache-2.0
// What a sidecar has logged, by the events of its lines.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_split.h"
#include "integration/eventually.h"
#include "integration/sidecar_process.h"

namespace levee {

// Waits until standard error has the text, which may come a moment after what it tells of. Returns
// all that is there, after kPatience in any case.
inline std::string ErrorsWith(const SidecarProcess& sidecar, std::string_view text) {
  std::string errors;
  Eventually([&] { return (errors = sidecar.process().Errors()).find(text) != errors.npos; });
  return errors;
}

// The lines of an event, in their order.
inline std::vector<std::string> LinesOf(const SidecarProcess& sidecar, const std::string& event) {
  std::vector<std::string> found;
  for (const auto line : absl::StrSplit(sidecar.process().Errors(), '\n')) {
    if (line.find(" " + event + ": ") != line.npos) found.emplace_back(line);
  }
  return found;
}

// Waits until there are that many lines of the event; what there is after kPatience.
inline std::vector<std::string> AwaitLines(const SidecarProcess& sidecar, const std::string& event,
                                           size_t count = 1) {
  std::vector<std::string> lines;
  Eventually([&] { return (lines = LinesOf(sidecar, event)).size() >= count; });
  return lines;
}

}  // namespace levee
