// SPDX-License-Identifier: Apache-2.0
#include "fleet/prometheus.h"

#include <google/protobuf/struct.pb.h>
#include <google/protobuf/util/json_util.h>

#include <cmath>
#include <optional>
#include <string_view>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/host_port.h"
#include "base/text.h"
#include "fleet/figures.h"
#include "fleet/targets.h"

namespace levee::fleet {
namespace {

using google::protobuf::Struct;
using google::protobuf::Value;

constexpr std::string_view kScheme = "http://";

const Value& Member(const Struct& object, const std::string& name) {
  const auto found = object.fields().find(name);
  return found == object.fields().end() ? Value::default_instance() : found->second;
}

// Reads {"metric": {...}, "value": [time, "number"]}.
std::optional<MetricSample> ReadSeries(const Struct& series, const std::string& metric) {
  const auto& value = Member(series, "value").list_value();
  MetricSample sample{.name = metric};
  if (value.values_size() != 2 ||
      !absl::SimpleAtod(value.values(1).string_value(), &sample.value) ||
      !std::isfinite(sample.value)) {
    return std::nullopt;
  }
  for (const auto& [name, label] : Member(series, "metric").struct_value().fields()) {
    sample.labels[name] = label.string_value();
  }
  return sample;
}

}  // namespace

absl::StatusOr<PrometheusUrl> ReadPrometheusUrl(const std::string& text) {
  if (text.starts_with("https://")) {
    return absl::InvalidArgumentError(
        absl::StrCat("\"", text,
                     "\" needs TLS, which this command does not speak; reach it by kubectl "
                     "port-forward"));
  }
  if (text.starts_with(kScheme)) {
    const std::string_view rest = std::string_view(text).substr(kScheme.size());
    const size_t slash = std::min(rest.find('/'), rest.size());
    std::string authority(rest.substr(0, slash));
    std::string path(rest.substr(slash));
    while (path.ends_with('/')) path.pop_back();
    if (!SplitHostPort(authority).has_value()) authority += ":80";
    const auto parts = SplitHostPort(authority);
    if (parts.has_value() && path.find_first_of("?# ") == std::string::npos) {
      return PrometheusUrl{std::string(parts->host), parts->port, std::move(path)};
    }
  }
  return absl::InvalidArgumentError(
      absl::StrCat("\"", text, "\" is no http://HOST:PORT or http://HOST:PORT/PATH"));
}

std::string GrowthQuery(const std::string& metric, absl::Duration range) {
  return absl::StrCat("sum without (", kUnreadLabels, ") (increase(", metric, "[",
                      absl::ToInt64Seconds(range), "s]))");
}

// A target that is not one any more has no `up` either, so that only missed ones are found.
std::string UnreachedQuery() {
  return "(up == 0) and on (job, instance) last_over_time(levee_build_info[1h])";
}

absl::StatusOr<std::vector<MetricSample>> ReadPrometheusAnswer(const std::string& json,
                                                               const std::string& metric) {
  Struct answer;
  if (!google::protobuf::util::JsonStringToMessage(json, &answer).ok()) {
    return absl::UnavailableError("the answer is no JSON");
  }
  const Struct& data = Member(answer, "data").struct_value();
  if (Member(answer, "status").string_value() != "success" ||
      Member(data, "resultType").string_value() != "vector") {
    return absl::UnavailableError("the answer is not that of Prometheus");
  }
  std::vector<MetricSample> samples;
  for (const Value& series : Member(data, "result").list_value().values()) {
    std::optional<MetricSample> sample = ReadSeries(series.struct_value(), metric);
    if (sample.has_value()) samples.push_back(*std::move(sample));
  }
  return samples;
}

std::vector<Unread> UnreadTargets(const std::vector<MetricSample>& samples, const std::string& by) {
  std::vector<Unread> unread;
  for (const MetricSample& sample : samples) {
    unread.push_back({ApplicationOfTarget(sample.labels, by),
                      std::string(LabelOf(sample.labels, "instance")),
                      "Prometheus does not reach it"});
  }
  return unread;
}

}  // namespace levee::fleet
