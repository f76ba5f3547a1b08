// SPDX-License-Identifier: Apache-2.0
// Returns the text of a scrape of metrics.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "prometheus/collectable.h"
#include "prometheus/text_serializer.h"
#include "telemetry/metrics.h"

namespace levee {

inline std::vector<prometheus::MetricFamily> Families(Metrics& metrics) { return metrics.Scrape(); }
inline std::vector<prometheus::MetricFamily> Families(const prometheus::Collectable& metrics) {
  return metrics.Collect();
}

// The whole text, as Prometheus gets it.
template <typename Source>
std::string ScrapeText(Source&& metrics) {
  return prometheus::TextSerializer().Serialize(Families(metrics));
}

// The value of one series, given as it stands in the text: name{label="value",...}. "absent" if it
// is not there.
template <typename Source>
std::string Scraped(Source&& metrics, std::string_view series) {
  const std::string text = "\n" + ScrapeText(metrics);
  const std::string start = "\n" + std::string(series) + " ";
  const size_t at = text.find(start);
  if (at == std::string::npos) return "absent";
  const size_t value = at + start.size();
  return text.substr(value, text.find('\n', value) - value);
}

}  // namespace levee
