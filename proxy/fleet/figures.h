// SPDX-License-Identifier: Apache-2.0
// What the samples of a sidecar say of its upstreams.
#pragma once

#include <array>
#include <map>
#include <string>
#include <vector>

#include "base/exposition.h"

namespace levee::fleet {

// Calls to one upstream, as numbers over some time. They are no whole numbers where Prometheus has
// extrapolated them.
struct Figures {
  double called = 0;       // calls that had an attempt
  double attempts = 0;     // of these calls
  double retries = 0;      // by Levee, without hedges
  double hedges = 0;       // by Levee
  double app_header = 0;   // of `called`: the application's own retries, which say so
  double app_loop = 0;     // of `called`: the application's own retries, seen by an equal call
  double above = 0;        // of `called`: made anew since the application's callers retry
  double app_refused = 0;  // the application's own retries that Levee refused

  // Calls that are no retry of the application, whatever its callers do.
  double Asked() const;
  // Attempts for each call that is no retry of the application; where all are, there was one
  // before. 1 without calls.
  double PerCall() const;
  // Everything beyond one attempt for each such call, which this layer adds.
  double More() const { return retries + hedges + app_header + app_loop; }
};
Figures& operator+=(Figures& sum, const Figures& more);

// Calls that came to the application, by whether their callers said that they had tried before.
struct Arrivals {
  double first = 0;
  double retries = 0;
};
Arrivals& operator+=(Arrivals& sum, const Arrivals& more);

// The counters of a sidecar, or what they grew by.
struct SidecarFigures {
  std::map<std::string, Figures> upstreams;  // where the application's calls go
  std::map<std::string, Arrivals> served;    // guarded upstreams, which are the application itself
};

// Adds the counters up. An upstream that a guard protects is served and is no upstream.
SidecarFigures AddUp(const std::vector<MetricSample>& samples);

// Returns what the counters of a process grew by. Upstreams that are only in `after` began at 0.
SidecarFigures Growth(const SidecarFigures& before, SidecarFigures after);

// The metrics that AddUp reads, and the labels that their series have of their own, of which it
// reads those that tell kinds apart.
inline constexpr std::array kMetrics = {"levee_call_attempts_count", "levee_attempts_total",
                                        "levee_retries_total", "levee_app_retries_total",
                                        "levee_guard_arrivals_total"};
inline constexpr std::array kKinds = {"upstream", "trigger", "action", "seen_by", "attempt"};
inline constexpr const char* kUnreadLabels = "method, code, result";

}  // namespace levee::fleet
