// SPDX-License-Identifier: Apache-2.0
// What Prometheus is asked about a fleet, and how it answers.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "base/exposition.h"
#include "fleet/report.h"

namespace levee::fleet {

// Where Prometheus' HTTP API is.
struct PrometheusUrl {
  std::string host;  // a name or an IP literal, that of IPv6 without its brackets
  uint16_t port = 0;
  std::string path;  // before /api/v1; empty or with a slash at its beginning
};

// Reads http://HOST[:PORT][/PATH]. The error says what is wrong with the text.
absl::StatusOr<PrometheusUrl> ReadPrometheusUrl(const std::string& text);

// Returns the query for what a metric of all targets has grown by over the last `range`, at least a
// second.
std::string GrowthQuery(const std::string& metric, absl::Duration range);

// The query for the sidecars that Prometheus does not reach now and that it has reached before.
std::string UnreachedQuery();

// Reads the answer to a query, whose samples get the name `metric`. Values that are no number are
// left out.
absl::StatusOr<std::vector<MetricSample>> ReadPrometheusAnswer(const std::string& json,
                                                               const std::string& metric);

// Returns the sidecars that samples of UnreachedQuery tell of. `by`: see ApplicationOfTarget.
std::vector<Unread> UnreadTargets(const std::vector<MetricSample>& samples, const std::string& by);

}  // namespace levee::fleet
