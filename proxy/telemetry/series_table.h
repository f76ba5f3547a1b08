// Series found by their labels, one per worker each.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/check.h"

namespace levee {

// Finds a worker's series by up to two label values, creating those of all workers at the first
// request. Nothing is ever removed: references stay valid. Any thread.
template <typename Series>
class SeriesTable {
 public:
  // What is exported under one set of labels: `shards` has an element per worker.
  struct Row {
    std::string_view first;
    std::string_view second;
    std::span<const Series> shards;
  };

  explicit SeriesTable(int workers) : workers_(static_cast<size_t>(workers)) {
    LEVEE_CHECK(workers > 0);
  }

  Series& At(int worker, std::string_view first, std::string_view second = {}) {
    LEVEE_CHECK(worker >= 0 && static_cast<size_t>(worker) < workers_);
    const std::lock_guard lock(mutex_);
    auto& shards = series_[{std::string(first), std::string(second)}];
    if (shards == nullptr) shards = std::make_unique<Series[]>(workers_);
    return shards[static_cast<size_t>(worker)];
  }

  // What there is now, by label values. Locks only while it copies: reading the series happens
  // afterwards and holds up no worker.
  std::vector<Row> Rows() const {
    const std::lock_guard lock(mutex_);
    std::vector<Row> rows;
    rows.reserve(series_.size());
    for (const auto& [labels, shards] : series_) {
      rows.push_back({labels.first, labels.second, {shards.get(), workers_}});
    }
    return rows;
  }

 private:
  const size_t workers_;
  mutable std::mutex mutex_;
  std::map<std::pair<std::string, std::string>, std::unique_ptr<Series[]>> series_;
};

}  // namespace levee
