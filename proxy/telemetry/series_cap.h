// SPDX-License-Identifier: Apache-2.0
// How many time series there may be.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <utility>

namespace levee {

// Callers choose methods and servers choose codes, and each new one is a number of series for
// Prometheus to keep. This counts what is exported and says when there is no room for more. Any
// thread.
class SeriesCap {
 public:
  // What is counted already stays, also beyond a lower limit.
  void SetLimit(int series);

  // Counts series that are exported in any case; below 0: that are so no more.
  void Reserve(int64_t series);

  // Counts series of a new method if there is room for them and for kSpareShare of the limit
  // beside; otherwise that is a hit.
  bool Take(int64_t series);

  // Whether series number `number` of the row at `row` is exported, which it is from then on once
  // there was room for it. Codes that a method had not had before may use the spare room too.
  bool Show(const void* row, int number, int64_t series);

  // The row is gone: what was shown of it is exported no more.
  void Forget(const void* row);

  int64_t taken() const;
  uint64_t hits() const;

 private:
  // A twentieth: new codes are rarer than new methods.
  static constexpr int64_t kSpareShare = 20;

  mutable std::mutex mutex_;
  int64_t limit_ = 0;
  int64_t taken_ = 0;
  uint64_t hits_ = 0;
  std::map<std::pair<const void*, int>, int64_t> shown_;  // how many series
};

}  // namespace levee
