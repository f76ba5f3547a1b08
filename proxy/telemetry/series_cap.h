// SPDX-License-Identifier: Apache-2.0
// Bounds the number of time series.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <utility>

namespace levee {

// Callers choose methods and servers choose codes, and Prometheus has to keep several series for
// each new one. This class counts the series that are exported, and says when there is no room for
// more. Any thread.
class SeriesCap {
 public:
  // Series that are counted already stay, even if the new limit is lower than their number.
  void SetLimit(int series);

  // Counts series that are exported in any case. A negative number: so many of these are exported
  // no more.
  void Reserve(int64_t series);

  // Counts the series of a new method, if afterwards one in kSpareShare of the limit is still free;
  // otherwise counts a hit and returns false.
  bool Take(int64_t series);

  // Returns whether number `number` of the optional series of the row at `row` is exported; it
  // stands for `series` time series. Once there was room for it, it stays exported. It may use the
  // part of the limit that Take leaves free.
  bool Show(const void* row, int number, int64_t series);

  // Gives back the room of the optional series of a row that is removed.
  void Forget(const void* row);

  int64_t taken() const;
  uint64_t hits() const;

 private:
  // A twentieth of the limit is kept for new codes, which are rarer than new methods.
  static constexpr int64_t kSpareShare = 20;

  mutable std::mutex mutex_;
  int64_t limit_ = 0;
  int64_t taken_ = 0;
  uint64_t hits_ = 0;
  std::map<std::pair<const void*, int>, int64_t> shown_;  // how many series
};

}  // namespace levee
