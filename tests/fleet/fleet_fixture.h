// SPDX-License-Identifier: Apache-2.0
// Fleets as values.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "fleet/report.h"

namespace levee::fleet {

// A sidecar with one upstream, and what its guards saw.
inline Sidecar Calls(const std::string& application, const std::string& upstream,
                     const Figures& figures, const Arrivals& served = {}) {
  Sidecar sidecar = {application, {}};
  sidecar.figures.upstreams[upstream] = figures;
  if (served.first + served.retries > 0) sidecar.figures.served["app"] = served;
  return sidecar;
}

// A sidecar of an application that makes no calls.
inline Sidecar Serves(const std::string& application, const Arrivals& served) {
  Sidecar sidecar = {application, {}};
  sidecar.figures.served["app"] = served;
  return sidecar;
}

// 100 calls that took one attempt each.
inline const Figures kCalm = {.called = 100, .attempts = 100};
// 100 calls, each of which the application made three times.
inline const Figures kLoops = {.called = 300, .attempts = 300, .app_loop = 200};
// 100 calls with three attempts each.
inline const Figures kOwn = {.called = 100, .attempts = 300, .retries = 200};

inline Report ReportOf(const std::vector<Sidecar>& sidecars, const Joins& joins = {}) {
  return {.graph = MakeGraph(sidecars, joins),
          .sidecars = static_cast<int>(sidecars.size()),
          .unread = {},
          .seconds = 5};
}

// Three layers, of which the middle one multiplies.
inline std::vector<Sidecar> MiddleLoops() {
  return {Calls("web", "orders", kCalm), Calls("orders", "cart", kLoops, {.first = 100}),
          Serves("cart", {.first = 300})};
}

}  // namespace levee::fleet
