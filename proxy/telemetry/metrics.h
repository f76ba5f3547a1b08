// SPDX-License-Identifier: Apache-2.0
// All metrics but the process's own: hands out the series to write and adds them up at a scrape.
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
#include "telemetry/method_labels.h"
#include "telemetry/record_call.h"
#include "telemetry/series.h"
#include "telemetry/series_cap.h"
#include "telemetry/series_table.h"
#include "telemetry/upstream_totals.h"

namespace levee {

// Where calls without a route are counted.
inline constexpr std::string_view kNoUpstream = "none";

// Every worker writes series of its own, with plain stores; a scrape adds the workers up. The
// functions that find series lock, so a worker keeps the references it got (one per entry of its
// route cache). Any thread may call any function; references live as long as the object, and are
// good while the upstream is configured or its calls run.
class Metrics {
 public:
  // What the configuration says of metrics.
  struct Settings {
    std::vector<std::string> upstreams;
    std::vector<std::string> methods;  // named in routes: labelled from the start; no leading slash
    int method_labels = 50;            // limits.method_labels
    // limits.metric_series: how many time series there are at most, unless what the configuration
    // itself names (upstreams, rate limits) has more.
    int metric_series = 20'000;
    bool otel_names = false;  // metrics.otel_names
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

  // `worker` is 0 to Options::workers - 1. An upstream that is not known yet (a reload brought it)
  // is exported from now on.
  UpstreamSeries& Upstream(int worker, std::string_view upstream);
  WorkerSeries& Worker(int worker);
  RateLimitSeries& RateLimit(int worker, std::string_view policy, std::string_view limit);

  // `path` is the call's :path. The series of the method if it has a label, else those of `other`;
  // also if `metric_series` does not allow those of one more (upstream, method), which counts as a
  // hit. They are exported from this call on, at 0.
  MethodSeries& Method(int worker, std::string_view upstream, std::string_view path);

  // The method was answered other than UNIMPLEMENTED, so it exists: gives it a label if
  // `method_labels` allows one more (else it stays `other`, and the limit counts as hit) and
  // returns the series to use from now on.
  MethodSeries& LabelMethod(int worker, std::string_view upstream, std::string_view path);

  // A reload brought other settings. What is exported already stays; lower limits only keep further
  // labels out. But an upstream that `settings` does not name goes once it is quiet: when it has no
  // endpoint and no connection, no call ended and nobody asked for its series, in kQuietLooks looks
  // in turn. Each scrape is one, and each Configure, so names that come and go with reloads leave
  // nothing behind. Should it come back later, it counts from 0.
  static constexpr int kQuietLooks = 20;
  void Configure(const Settings& settings);

  // A reload took effect, or was refused and the running configuration stays.
  void ConfigReloaded(std::string sha256, absl::Time now);
  void ConfigRefused();

  // State that lives elsewhere, asked on the scraping thread. The last source set wins; when Set...
  // returns, the one before is neither running nor called again. A source must not call back.
  //
  // Of several budgets of one upstream (destinations of `authority:`) the one with the least
  // available is shown. A source should name each upstream from the start.
  struct BudgetGauges {
    std::string upstream;
    double available = 0;
    double limit = 0;
    bool floor_withheld = false;
    double ratio = 0;
  };
  using BudgetSource = std::function<std::vector<BudgetGauges>()>;
  void SetBudgetSource(BudgetSource source);
  void SetReplayBytesSource(std::function<int64_t()> source);
  void SetLostLogLinesSource(std::function<uint64_t()> source);

  // Of every upstream, `none` included, by name.
  std::vector<UpstreamTotals> Totals() const;

  // How often each limit was reached since the start.
  ByEnum<uint64_t, Limit, kLimits> LimitHits() const;

  // One scrape: hands over one family after the other, so that it needs memory for the largest
  // only. It changes what there is: it counts as a look at upstreams that are not configured, and
  // removes the series of those that were quiet for kQuietLooks looks (see Configure); and a code
  // that is seen for the first time takes its place among `metric_series`.
  void Scrape(FamilySink sink);
  std::vector<prometheus::MetricFamily> Scrape();

 private:
  // How an upstream that is not configured was found at the last look.
  struct Quiet {
    uint64_t events = 0;
    int looks = 0;
  };

  // One look. `removal_mutex_` is held.
  void RemoveQuiet();
  void Remove(const std::vector<MethodRow>& methods, const UpstreamRow& upstream);
  MethodSeries& SeriesOf(int worker, std::string_view upstream, std::string_view label);
  void CollectAll(FamilySink sink);
  void CollectMethodsAndUpstreams(FamilySink sink);
  void CollectConfig(FamilySink sink) const;
  void CollectSources(FamilySink sink) const;
  uint64_t LostLogLines() const;

  const std::string version_;
  const std::string commit_;
  SeriesTable<MethodSeries> methods_;
  SeriesTable<UpstreamSeries> upstreams_;
  SeriesTable<RateLimitSeries> rate_limits_;
  std::vector<WorkerSeries> workers_;
  MethodLabels labels_;
  std::atomic<bool> otel_names_;
  std::atomic<int64_t> method_cost_;  // SeriesCost::method
  const SeriesCost cost_;             // what depends on no setting
  SeriesCap cap_;

  // Held while rows are removed, or their cost is changed.
  std::mutex removal_mutex_;
  std::set<std::string> configured_;
  std::map<std::string, Quiet> quiet_;  // upstreams that are not configured

  mutable std::mutex config_mutex_;
  std::string config_sha256_;
  absl::Time config_loaded_at_;
  bool config_last_successful_ = true;
  uint64_t config_reloaded_ = 0;
  uint64_t config_refused_ = 0;

  // Held while the sources run, so that a source that has been replaced is not running.
  mutable std::mutex sources_mutex_;
  BudgetSource budgets_;
  std::function<int64_t()> replay_bytes_;
  std::function<uint64_t()> lost_log_lines_;
};

}  // namespace levee
