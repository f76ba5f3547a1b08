// SPDX-License-Identifier: Apache-2.0
// The trailer by which a server tells its load to clients that balance by it (gRFC A51).
#pragma once

#include <string>
#include <string_view>

namespace levee {

inline constexpr std::string_view kLoadReportField = "endpoint-load-metrics-bin";

// The load of a service at a moment.
struct LoadReport {
  double utilization = 0;  // at least 0; 1 is all that it can work on at a time; more calls wait
  double calls = 0;        // that ended, each second
  double errors = 0;       // of these, calls that did not end OK

  friend bool operator==(const LoadReport&, const LoadReport&) = default;
};

// Returns the field's value: an xds.data.orca.v3.OrcaLoadReport with application_utilization,
// rps_fractional and eps, in base64 without padding.
std::string LoadReportText(const LoadReport& report);

}  // namespace levee
