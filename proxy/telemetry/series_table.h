// SPDX-License-Identifier: Apache-2.0
// Series found by their labels, one per worker each.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "base/check.h"

namespace levee {

// Finds a worker's series by up to two label values, creating those of all workers at the first
// request. Their memory is never freed: references stay valid, but after Remove they may come to
// stand for other labels. Any thread.
template <typename Series>
class SeriesTable {
 public:
  // What is exported under one set of labels: `shards` has an element per worker.
  struct Row {
    std::string first;
    std::string second;
    std::span<const Series> shards;
    uint64_t requests = 0;  // how often they were asked for
  };

  explicit SeriesTable(int workers) : workers_(static_cast<size_t>(workers)) {
    LEVEE_CHECK(workers > 0);
  }

  Series& At(int worker, std::string_view first, std::string_view second = {}) {
    return *AtIf(worker, first, second, [] { return true; });
  }

  // The same, but asks first whether series that are not there may be created; nullptr if not.
  Series* AtIf(int worker, std::string_view first, std::string_view second,
               absl::FunctionRef<bool()> may_create) {
    LEVEE_CHECK(worker >= 0 && static_cast<size_t>(worker) < workers_);
    std::pair<std::string, std::string> labels(first, second);
    const std::lock_guard lock(mutex_);
    auto found = series_.find(labels);
    if (found == series_.end()) {
      if (!may_create()) return nullptr;
      found = series_.emplace(std::move(labels), Entry{.shards = NewShards()}).first;
    }
    ++found->second.requests;
    return &found->second.shards[static_cast<size_t>(worker)];
  }

  // Forgets the row, unless it has been asked for again since. What it is made of becomes that of a
  // later row, so nobody should write it any more; each worker writes its own, so one that does all
  // the same is counted elsewhere, and no more.
  bool Remove(const Row& row) {
    const std::lock_guard lock(mutex_);
    const auto found = series_.find(std::pair(row.first, row.second));
    if (found == series_.end() || found->second.requests != row.requests) return false;
    free_.push_back(std::move(found->second.shards));
    series_.erase(found);
    return true;
  }

  // What there is now, by label values. Locks only while it copies: reading the series happens
  // afterwards and holds up no worker.
  std::vector<Row> Rows() const {
    const std::lock_guard lock(mutex_);
    std::vector<Row> rows;
    rows.reserve(series_.size());
    for (const auto& [labels, entry] : series_) {
      rows.push_back({labels.first, labels.second, {entry.shards.get(), workers_}, entry.requests});
    }
    return rows;
  }

 private:
  using Shards = std::unique_ptr<Series[]>;
  struct Entry {
    Shards shards;
    uint64_t requests = 0;
  };

  Shards NewShards() {
    if (free_.empty()) return std::make_unique<Series[]>(workers_);
    Shards shards = std::move(free_.back());
    free_.pop_back();
    for (size_t i = 0; i < workers_; ++i) shards[i].Reset();
    return shards;
  }

  const size_t workers_;
  mutable std::mutex mutex_;
  std::map<std::pair<std::string, std::string>, Entry> series_;
  std::vector<Shards> free_;
};

}  // namespace levee
