// SPDX-License-Identifier: Apache-2.0
#include "telemetry/metrics.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace levee {
namespace {

// The series of the process that a scrape prints too: process_cpu_seconds_total and its like.
constexpr int64_t kProcessSeries = 6;

}  // namespace

Metrics::Metrics(Options options)
    : version_(std::move(options.version)),
      commit_(std::move(options.commit)),
      methods_(options.workers),
      upstreams_(options.workers),
      rate_limits_(options.workers),
      guards_(options.workers),
      dedupes_(options.workers),
      shadows_(options.workers),
      stores_(/*workers=*/1),
      workers_(static_cast<size_t>(options.workers)),
      otel_names_(options.settings.otel_names),
      method_cost_(CostOfRows(options.settings.otel_names).method),
      cost_(CostOfRows(/*otel_names=*/false)),
      config_sha256_(std::move(options.config_sha256)),
      config_loaded_at_(options.config_loaded_at) {
  cap_.Reserve(kProcessSeries);
  CollectAll([this](const prometheus::MetricFamily& family) { cap_.Reserve(CountSeries(family)); });
  // The series of `none` and `other` exist from the start, so that they are exported at 0.
  methods_.At(0, kNoUpstream, kOtherMethod);
  cap_.Reserve(cost_.unrouted);
  Configure(options.settings);
}

Metrics::~Metrics() = default;

UpstreamSeries& Metrics::Upstream(int worker, std::string_view upstream) {
  return *upstreams_.AtIf(worker, upstream, {}, [&] {
    if (upstream != kNoUpstream) cap_.Reserve(cost_.upstream);
    return true;
  });
}

WorkerSeries& Metrics::Worker(int worker) { return workers_.at(static_cast<size_t>(worker)); }

RateLimitSeries& Metrics::RateLimit(int worker, std::string_view policy, std::string_view limit) {
  return *rate_limits_.AtIf(worker, policy, limit, [&] {
    cap_.Reserve(cost_.rate_limit);
    return true;
  });
}

GuardSeries& Metrics::Guard(int worker, std::string_view upstream) {
  return *guards_.AtIf(worker, upstream, {}, [&] {
    cap_.Reserve(cost_.guard);
    return true;
  });
}

DedupeSeries& Metrics::Dedupe(int worker, std::string_view upstream) {
  return *dedupes_.AtIf(worker, upstream, {}, [&] {
    cap_.Reserve(cost_.dedupe);
    return true;
  });
}

ShadowSeries& Metrics::Shadow(int worker, std::string_view policy, std::string_view shadow) {
  return *shadows_.AtIf(worker, policy, shadow, [&] {
    cap_.Reserve(kShadowOutcomes);
    return true;
  });
}

StoreSeries& Metrics::Store(std::string_view store) {
  return *stores_.AtIf(/*worker=*/0, store, {}, [&] {
    cap_.Reserve(cost_.store);
    return true;
  });
}

MethodSeries& Metrics::SeriesOf(int worker, std::string_view upstream, std::string_view label) {
  MethodSeries* const series = methods_.AtIf(worker, upstream, label, [&] {
    if (label != kOtherMethod) return cap_.Take(method_cost_.load());
    cap_.Reserve(method_cost_.load());
    return true;
  });
  return series != nullptr ? *series : SeriesOf(worker, upstream, kOtherMethod);
}

MethodSeries& Metrics::Method(int worker, std::string_view upstream, std::string_view path) {
  return SeriesOf(worker, upstream, labels_.Find(path));
}

MethodSeries& Metrics::LabelMethod(int worker, std::string_view upstream, std::string_view path) {
  return SeriesOf(worker, upstream, labels_.FindOrAdd(path));
}

void Metrics::Configure(const Settings& settings) {
  labels_.Configure(settings.methods, settings.method_labels);
  cap_.SetLimit(settings.metric_series);
  otel_names_.store(settings.otel_names);
  {
    const std::lock_guard lock(config_mutex_);
    certificates_ = settings.certificates;
  }
  const int64_t cost = CostOfRows(settings.otel_names).method;
  const std::lock_guard lock(removal_mutex_);
  const int64_t more = cost - method_cost_.exchange(cost);
  if (more != 0) {
    const auto rows = methods_.Rows();
    cap_.Reserve(more * std::count_if(rows.begin(), rows.end(), [](const MethodRow& row) {
                   return row.first != kNoUpstream;
                 }));
  }
  configured_ = {settings.upstreams.begin(), settings.upstreams.end()};
  for (const std::string& upstream : settings.upstreams) {
    Upstream(0, upstream);
    SeriesOf(0, upstream, kOtherMethod);
  }
  RemoveQuiet();
}

void Metrics::ConfigReloaded(std::string sha256, absl::Time now) {
  const std::lock_guard lock(config_mutex_);
  config_sha256_ = std::move(sha256);
  config_loaded_at_ = now;
  config_last_successful_ = true;
  ++config_reloaded_;
}

void Metrics::ConfigRefused() {
  const std::lock_guard lock(config_mutex_);
  config_last_successful_ = false;
  ++config_refused_;
}

void Metrics::CertificatesRotated() {
  const std::lock_guard lock(config_mutex_);
  ++certificates_rotated_;
}

void Metrics::Show(const GaugeSource* source) {
  const std::lock_guard lock(source_mutex_);
  source_ = source;
}

}  // namespace levee
