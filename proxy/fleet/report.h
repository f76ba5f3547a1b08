// SPDX-License-Identifier: Apache-2.0
// What is known of a fleet, and what it means.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "fleet/graph.h"

namespace levee::fleet {

// A sidecar that told nothing.
struct Unread {
  std::string application;
  std::string address;
  std::string reason;
};

// More attempts per call than this are an alarm whatever a budget allows.
inline constexpr double kDefaultBound = 1.5;

struct Report {
  Graph graph;
  int sidecars = 0;  // that were read
  std::vector<Unread> unread;
  std::optional<double> seconds;  // of the calls; nullopt: since each sidecar's start
  double bound = kDefaultBound;   // of attempts per call

  bool Multiplies(const Edge& edge) const;
  // Whether all was read, and neither an edge nor a way through several layers multiplies.
  bool ok() const;
};

// Returns sentences: first which layer multiplies and whose retries these are, or that none does;
// then what layers come to together, where retries further up are felt, which retries of
// applications were refused, and which sidecars told nothing.
std::vector<std::string> Judge(const Report& report);

// Returns how long calls were counted, as "5s": to a tenth of a second.
std::string SpanWords(double seconds);

// Returns the name of a node as sentences have it, or that of all callers outside the fleet.
std::string CallerOf(const Edge& edge);

}  // namespace levee::fleet
