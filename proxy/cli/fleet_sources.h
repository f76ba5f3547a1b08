// SPDX-License-Identifier: Apache-2.0
// Where `levee fleet` has its numbers from.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "fleet/report.h"

namespace levee {

// The figures of all sidecars that told theirs, and the others.
struct FleetReadings {
  std::vector<fleet::Sidecar> sidecars;
  int reached = 0;  // of these; Prometheus also knows of some that it does not reach now
  std::vector<fleet::Unread> unread;
  std::optional<double> seconds;  // see fleet::Report
};

// Splits LEFT=RIGHT, neither of which may be empty. nullopt if it is something else.
std::optional<std::pair<std::string, std::string>> SplitPair(const std::string& text);

// Returns what is wrong with [NAME=]HOST:PORT; empty: nothing.
std::string WhyNoSidecar(const std::string& text);

// Asks sidecars, each given as [NAME=]HOST:PORT of its metrics, twice with `interval` between; once
// with nullopt, for what has happened since their start. A name of several addresses is several
// sidecars. Without a name the application is the host, or the text if that is an IP literal or
// localhost. A terminal at standard error shows how long it takes.
FleetReadings AskSidecars(const std::vector<std::string>& sidecars,
                          std::optional<absl::Duration> interval);

// Asks Prometheus at `url` for the last `range`. `by`: see fleet::ApplicationOfTarget.
absl::StatusOr<FleetReadings> AskPrometheus(const std::string& url, absl::Duration range,
                                            const std::string& by);

}  // namespace levee
