// SPDX-License-Identifier: Apache-2.0
// Makes the families that prometheus-cpp prints from the series. On the scraping thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <numeric>
#include <span>
#include <string_view>
#include <utility>

#include "absl/functional/function_ref.h"
#include "prometheus/metric_family.h"
#include "telemetry/cells.h"

namespace levee {

// Takes one finished family after the other.
using FamilySink = absl::FunctionRef<void(prometheus::MetricFamily)>;
using Labels = std::initializer_list<std::pair<std::string_view, std::string_view>>;

// The number by which a series' values are divided to get the unit that Prometheus is told.
inline constexpr double kNanosPerSecond = 1e9;
inline constexpr double kUnits = 1;

// All values of an enum that counts up from 0.
template <typename Enum, int kSize>
inline constexpr auto kAllOf = [] {
  std::array<Enum, kSize> values{};
  for (int i = 0; i < kSize; ++i) values[static_cast<size_t>(i)] = static_cast<Enum>(i);
  return values;
}();

// Returns the value of a counter or gauge. With keys, `cells` is a ByEnum, and the keys say which
// of its cells is read.
template <typename Cell>
auto ReadCell(const Cell& cell) {
  return cell.Read();
}
template <typename Cells, typename Key, typename... Keys>
auto ReadCell(const Cells& cells, Key key, Keys... keys) {
  return ReadCell(cells[key], keys...);
}

// Returns the sum of ReadCell over all workers:
// Sum(row.shards, &UpstreamSeries::marks_sent, OverloadScope::kService).
template <typename Series, typename Member, typename... Keys>
auto Sum(std::span<const Series> shards, Member Series::*member, Keys... keys) {
  decltype(ReadCell(shards.front().*member, keys...)) sum = 0;
  for (const Series& shard : shards) sum += ReadCell(shard.*member, keys...);
  return sum;
}

// Adds up histograms of one kind. The count is the sum of the buckets, so that it always agrees
// with them.
template <typename Summed>
class HistogramSum {
 public:
  void Add(const Summed& histogram) {
    for (size_t bucket = 0; bucket < Summed::kBuckets; ++bucket) {
      buckets_[bucket] += histogram.Read(bucket);
    }
    sum_ += histogram.ReadSum();
  }
  void Add(const HistogramSum& other) {
    for (size_t bucket = 0; bucket < Summed::kBuckets; ++bucket) {
      buckets_[bucket] += other.buckets_[bucket];
    }
    sum_ += other.sum_;
  }

  // The number of values in each bucket alone, without those of the buckets below.
  const std::array<uint64_t, Summed::kBuckets>& buckets() const { return buckets_; }
  uint64_t count() const { return std::accumulate(buckets_.begin(), buckets_.end(), uint64_t{0}); }

  prometheus::ClientMetric::Histogram Exposed(double units) const {
    prometheus::ClientMetric::Histogram exposed;
    exposed.bucket.reserve(Summed::kBuckets);
    for (size_t bucket = 0; bucket < Summed::kBuckets; ++bucket) {
      exposed.sample_count += buckets_[bucket];
      exposed.bucket.push_back({exposed.sample_count, Summed::Bound(bucket) / units});
    }
    exposed.sample_sum = static_cast<double>(sum_) / units;
    return exposed;
  }

 private:
  std::array<uint64_t, Summed::kBuckets> buckets_{};
  uint64_t sum_ = 0;
};

// Returns the sum of one histogram over all workers: AddUp(row.shards, &MethodSeries::attempts_ok).
// If the member is a ByEnum, `key` says which of its histograms:
// AddUp(row.shards, &MethodSeries::calls, StatusCode::kOk).
template <typename Series, typename Summed>
HistogramSum<Summed> AddUp(std::span<const Series> shards, Summed Series::*member) {
  HistogramSum<Summed> sum;
  for (const Series& shard : shards) sum.Add(shard.*member);
  return sum;
}
template <typename Series, typename Summed, typename Enum, int kSize>
HistogramSum<Summed> AddUp(std::span<const Series> shards,
                           ByEnum<Summed, Enum, kSize> Series::*member, Enum key) {
  HistogramSum<Summed> sum;
  for (const Series& shard : shards) sum.Add((shard.*member)[key]);
  return sum;
}

// Also of two keys.
template <typename Series, typename Summed, typename Outer, int kOuter, typename Inner, int kInner>
HistogramSum<Summed> AddUp(std::span<const Series> shards,
                           ByEnum<ByEnum<Summed, Inner, kInner>, Outer, kOuter> Series::*member,
                           Outer outer, Inner inner) {
  HistogramSum<Summed> sum;
  for (const Series& shard : shards) sum.Add((shard.*member)[outer][inner]);
  return sum;
}

// A family under construction, handed to `sink` when it goes out of scope. A large sidecar has
// thousands of series; one family at a time keeps a scrape from needing memory for all of them.
class Family {
 public:
  Family(FamilySink sink, prometheus::MetricType type, std::string_view name,
         std::string_view help);
  Family(const Family&) = delete;
  Family& operator=(const Family&) = delete;
  ~Family() { sink_(std::move(family_)); }

  // Adds a time series. `value` is that of a counter or a gauge, as the family's type says.
  void Add(Labels labels, double value);
  void Add(Labels labels, prometheus::ClientMetric::Histogram histogram);

 private:
  prometheus::ClientMetric& AddMetric(Labels labels);

  const FamilySink sink_;
  prometheus::MetricFamily family_;
};

// Returns the number of time series that a scrape of a family has.
int64_t CountSeries(const prometheus::MetricFamily& family);

}  // namespace levee
