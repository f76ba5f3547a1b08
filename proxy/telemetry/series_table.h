// SPDX-License-Identifier: Apache-2.0
// A table of series, which are found by their labels. Each worker has its own.
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

// Finds a worker's series by up to two label values. The first request for a pair of labels creates
// the series of all workers. Their memory is never freed, so references stay valid; but after
// Remove the same memory may be used for other labels. Any thread.
template <typename Series>
class SeriesTable {
 public:
  // The series that are exported under one pair of labels: `shards` has an element for each worker.
  struct Row {
    std::string first;
    std::string second;
    std::span<const Series> shards;
    uint64_t requests = 0;  // how often At or AtIf returned one of them
  };

  explicit SeriesTable(int workers) : workers_(static_cast<size_t>(workers)) {
    LEVEE_CHECK(workers > 0);
  }

  Series& At(int worker, std::string_view first, std::string_view second = {}) {
    return *AtIf(worker, first, second, [] { return true; });
  }

  // Like At, but calls `may_create` before it creates series, and returns nullptr if that is false.
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

  // Removes the row, unless it has been requested again since Rows returned it. A later row gets
  // its memory, so nobody should write these series any more. A worker that does so nevertheless
  // makes the numbers of that later row wrong, and does no other harm.
  bool Remove(const Row& row) {
    const std::lock_guard lock(mutex_);
    const auto found = series_.find(std::pair(row.first, row.second));
    if (found == series_.end() || found->second.requests != row.requests) return false;
    free_.push_back(std::move(found->second.shards));
    series_.erase(found);
    return true;
  }

  // Returns all rows, ordered by their labels. Locks only while it copies the rows. The caller
  // reads the series afterwards, so that no worker waits for it.
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
