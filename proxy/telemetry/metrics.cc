#include "telemetry/metrics.h"

#include <utility>

#include "base/check.h"

namespace levee {

Metrics::Metrics(Options options)
    : version_(std::move(options.version)),
      commit_(std::move(options.commit)),
      methods_(options.workers),
      upstreams_(options.workers),
      rate_limits_(options.workers),
      workers_(static_cast<size_t>(options.workers)),
      labels_(options.methods, options.method_labels),
      config_sha256_(std::move(options.config_sha256)),
      config_loaded_at_(options.config_loaded_at) {
  // What has no label of its own is known from the start, so that it is exported at 0.
  methods_.At(0, kNoUpstream, kOtherMethod);
  for (const std::string& upstream : options.upstreams) {
    upstreams_.At(0, upstream);
    methods_.At(0, upstream, kOtherMethod);
  }
}

Metrics::~Metrics() = default;

UpstreamSeries& Metrics::Upstream(int worker, std::string_view upstream) {
  return upstreams_.At(worker, upstream);
}

WorkerSeries& Metrics::Worker(int worker) { return workers_.at(static_cast<size_t>(worker)); }

RateLimitSeries& Metrics::RateLimit(int worker, std::string_view policy, std::string_view limit) {
  return rate_limits_.At(worker, policy, limit);
}

MethodSeries& Metrics::Method(int worker, std::string_view upstream, std::string_view path) {
  return methods_.At(worker, upstream, labels_.Find(path));
}

MethodSeries& Metrics::LabelMethod(int worker, std::string_view upstream, std::string_view path) {
  return methods_.At(worker, upstream, labels_.FindOrAdd(path));
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

void Metrics::SetBudgetSource(BudgetSource source) {
  const std::lock_guard lock(sources_mutex_);
  budgets_ = std::move(source);
}

void Metrics::SetReplayBytesSource(std::function<int64_t()> source) {
  const std::lock_guard lock(sources_mutex_);
  replay_bytes_ = std::move(source);
}

void Metrics::SetLostLogLinesSource(std::function<uint64_t()> source) {
  const std::lock_guard lock(sources_mutex_);
  lost_log_lines_ = std::move(source);
}

}  // namespace levee
