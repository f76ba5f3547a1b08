// SPDX-License-Identifier: Apache-2.0
#include "telemetry/exposition.h"

#include <string>

namespace levee {

using prometheus::ClientMetric;
using prometheus::MetricType;

Family::Family(FamilySink sink, MetricType type, std::string_view name, std::string_view help)
    : sink_(sink), family_{std::string(name), std::string(help), type, {}} {}

void Family::Add(Labels labels, double value) {
  // The printer reads the field that belongs to the family's type. Both fields are small, so both
  // are set.
  ClientMetric& metric = AddMetric(labels);
  metric.counter.value = value;
  metric.gauge.value = value;
}

void Family::Add(Labels labels, ClientMetric::Histogram histogram) {
  AddMetric(labels).histogram = std::move(histogram);
}

ClientMetric& Family::AddMetric(Labels labels) {
  ClientMetric& metric = family_.metric.emplace_back();
  metric.label.reserve(labels.size());
  for (const auto& [name, value] : labels) {
    metric.label.push_back({std::string(name), std::string(value)});
  }
  return metric;
}

int64_t CountSeries(const prometheus::MetricFamily& family) {
  size_t series = family.metric.size();
  if (family.type == MetricType::Histogram) {
    // A histogram has a series for each bucket, one for the sum and one for the count.
    for (const ClientMetric& metric : family.metric) series += metric.histogram.bucket.size() + 1;
  }
  return static_cast<int64_t>(series);
}

}  // namespace levee
