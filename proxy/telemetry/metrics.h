// SPDX-License-Identifier: Apache-2.0
// All metrics except those of the process. Gives workers the series that they write, and adds the
// series up at a scrape.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/time/time.h"
#include "prometheus/metric_family.h"
#include "telemetry/exposition.h"
#include "telemetry/families.h"
#include "telemetry/gauge_source.h"
#include "telemetry/method_labels.h"
#include "telemetry/record_call.h"
#include "telemetry/series.h"
#include "telemetry/series_cap.h"
#include "telemetry/series_table.h"
#include "telemetry/store_totals.h"
#include "telemetry/upstream_totals.h"

namespace levee {

// The name of the upstream under which calls without a route are counted.
inline constexpr std::string_view kNoUpstream = "none";

// Every worker writes series of its own, with plain stores; a scrape adds the workers up. The
// functions that find series lock, so a worker keeps the references that it got (one per entry of
// its route cache). Any thread may call any function. A reference stays valid as long as the object
// lives; it stands for the same labels while the upstream is configured or its calls run. Above 30
// functions: tables of series, sources and the scrape are not parted yet. Above 20 data members:
// for the same reason.
class Metrics {
 public:
  // From when until when a certificate that Levee shows is valid.
  struct CertificateLife {
    std::string upstream;  // kNoUpstream for that of a listener
    std::string kind;      // "client", or "server" and the listener's name: "server egress"
    absl::Time begins;
    absl::Time expires;
  };

  // The part of the configuration that concerns metrics.
  struct Settings {
    std::vector<std::string> upstreams;
    std::vector<std::string> methods;  // named in routes: labelled from the start; no leading slash
    int method_labels = 50;            // limits.method_labels
    // limits.metric_series: the largest number of time series. There are more only if the upstreams
    // and rate limits that the configuration names need more by themselves.
    int metric_series = 20'000;
    bool otel_names = false;  // metrics.otel_names
    std::vector<CertificateLife> certificates;
  };

  struct Options {
    int workers = 1;
    Settings settings;
    std::string version, commit;  // of the build
    std::string config_sha256;    // of the configuration started with
    absl::Time config_loaded_at = absl::UnixEpoch();
  };

  explicit Metrics(Options options);
  Metrics(const Metrics&) = delete;
  Metrics& operator=(const Metrics&) = delete;
  ~Metrics();

  int workers() const { return static_cast<int>(workers_.size()); }

  // `worker` is 0 to Options::workers - 1. An upstream that is new, because a reload added it, is
  // exported from now on.
  UpstreamSeries& Upstream(int worker, std::string_view upstream);
  WorkerSeries& Worker(int worker);
  RateLimitSeries& RateLimit(int worker, std::string_view policy, std::string_view limit);
  GuardSeries& Guard(int worker, std::string_view upstream);
  DedupeSeries& Dedupe(int worker, std::string_view upstream);
  ShadowSeries& Shadow(int worker, std::string_view policy, std::string_view shadow);
  StoreSeries& Store(std::string_view store);
  SpanSeries& Spans() { return spans_; }

  // Returns the series of the method of a call; `path` is the call's :path. The series are those of
  // `other` if the method has no label, or if `metric_series` does not allow the series of one more
  // (upstream, method); the second case counts as a limit hit. The series are exported from now on,
  // beginning at 0.
  MethodSeries& Method(int worker, std::string_view upstream, std::string_view path);

  // Tells that a server answered a call of the method with another code than UNIMPLEMENTED, so that
  // the method exists. Gives the method a label if `method_labels` allows one more; otherwise it
  // stays `other`, which counts as a limit hit. Returns the series to use from now on.
  MethodSeries& LabelMethod(int worker, std::string_view upstream, std::string_view path);

  // Takes the settings of a reload. Series that are exported already stay; lower limits only keep
  // further labels out. The series of an upstream that `settings` does not name are removed once
  // the upstream was quiet at kQuietChecks checks in turn. Each scrape and each Configure is a
  // check. Quiet means that the upstream has no endpoint and no connection, and that since the
  // check before no call of it has ended and nobody has asked for its series. So names that come
  // and go with reloads need no memory for ever. If such an upstream comes back later, it counts
  // from 0.
  static constexpr int kQuietChecks = 20;
  void Configure(const Settings& settings);

  // Counts a reload: one that took effect, or one that was refused, so that the configuration
  // before stays.
  void ConfigReloaded(std::string sha256, absl::Time now);
  void ConfigRefused();

  // Counts that certificates of a Workload API took effect, in the configuration as it was.
  void CertificatesRotated();

  // Scrapes show the values of `source`, which is called on the scraping thread and must not call
  // back; nullptr: none. When it returns, the source before is not being read and will not be read
  // again. The source outlives the metrics, or is taken away by another Show.
  void Show(const GaugeSource* source);

  // Returns the totals of every upstream, `none` included, ordered by name.
  std::vector<UpstreamTotals> Totals() const;

  // The calls since the start, by the attempts that a shadow would have made for them.
  struct ShadowTotals {
    std::string policy;
    std::string shadow;
    ByEnum<uint64_t, ShadowOutcome, kShadowOutcomes> calls;
  };
  // Ordered by the two names.
  std::vector<ShadowTotals> Shadows() const;

  // The requests to each store since the start, ordered by name.
  std::vector<StoreTotals> Stores() const;

  // The calls with an idempotency key since the start, by what became of them; by upstream.
  using DedupeTotals = ByEnum<uint64_t, DedupeResult, kDedupeResults>;
  std::map<std::string, DedupeTotals> Dedupes() const;

  // Returns how often each limit was reached since the start.
  ByEnum<uint64_t, Limit, kLimits> LimitHits() const;

  // Collects all metrics and hands them to `sink` one family after the other, so that it needs
  // memory for the largest family only. A scrape changes the object: it is a check of the upstreams
  // that are not configured, and removes those that were quiet long enough (see Configure). And a
  // code that is seen for the first time counts against `metric_series` from then on.
  void Scrape(FamilySink sink);
  std::vector<prometheus::MetricFamily> Scrape();

 private:
  // The state of an upstream that is not configured, at the last check.
  struct Quiet {
    uint64_t events = 0;
    int checks = 0;  // at which it was quiet, in turn
  };

  // Makes one check. `removal_mutex_` is held.
  void RemoveQuiet();
  void Remove(const std::vector<MethodRow>& methods, const UpstreamRow& upstream);
  MethodSeries& SeriesOf(int worker, std::string_view upstream, std::string_view label);
  void CollectAll(FamilySink sink);
  void CollectMethodsAndUpstreams(FamilySink sink);
  void CollectConfig(FamilySink sink) const;
  void CollectGauges(FamilySink sink) const;
  LostLines ReadLostLines() const;

  const std::string version_;
  const std::string commit_;
  SeriesTable<MethodSeries> methods_;
  SeriesTable<UpstreamSeries> upstreams_;
  SeriesTable<RateLimitSeries> rate_limits_;
  SeriesTable<GuardSeries> guards_;
  SeriesTable<DedupeSeries> dedupes_;
  SeriesTable<ShadowSeries> shadows_;
  SeriesTable<StoreSeries> stores_;  // of one worker, which is the stores' thread
  std::vector<WorkerSeries> workers_;
  SpanSeries spans_;
  MethodLabels labels_;
  std::atomic<bool> otel_names_;
  std::atomic<int64_t> method_cost_;  // SeriesCost::method
  const SeriesCost cost_;             // its other members, which depend on no setting
  SeriesCap cap_;

  // Held while rows are removed, or their cost is changed.
  std::mutex removal_mutex_;
  std::set<std::string> configured_;
  std::map<std::string, Quiet> quiet_;  // upstreams that are not configured

  mutable std::mutex config_mutex_;
  std::string config_sha256_;
  std::vector<CertificateLife> certificates_;
  absl::Time config_loaded_at_;
  bool config_last_successful_ = true;
  uint64_t config_reloaded_ = 0;
  uint64_t config_refused_ = 0;
  uint64_t certificates_rotated_ = 0;

  // Held while the source runs, so that Show returns only when the source before does not run.
  mutable std::mutex source_mutex_;
  const GaugeSource* source_ = nullptr;
};

}  // namespace levee
