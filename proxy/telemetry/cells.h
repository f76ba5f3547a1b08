// SPDX-License-Identifier: Apache-2.0
// The cells that metrics are made of: written by one thread, read by whoever scrapes.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace levee {

// A number that only grows. One thread writes it, so a plain load and store replace the locked
// read-modify-write that an increment by several threads would need. Any thread may read; what it
// reads is a value the writer stored, perhaps not the last one.
class Counter {
 public:
  void Add(uint64_t n = 1) {
    value_.store(value_.load(std::memory_order_relaxed) + n, std::memory_order_relaxed);
  }
  uint64_t Read() const { return value_.load(std::memory_order_relaxed); }

  // Sets the cell to 0 for a new use. The writer of the old use should be done: if it still writes,
  // the value is wrong, but nothing else is.
  void Reset() { value_.store(0, std::memory_order_relaxed); }

 private:
  std::atomic<uint64_t> value_ = 0;
};

// A number that rises and falls. One writer, any reader. A scrape adds up the gauges of all
// workers, so each worker counts only its own objects.
class Gauge {
 public:
  void Add(int64_t n = 1) {
    value_.store(value_.load(std::memory_order_relaxed) + n, std::memory_order_relaxed);
  }
  void Sub(int64_t n = 1) { Add(-n); }
  void Set(int64_t value) { value_.store(value, std::memory_order_relaxed); }
  int64_t Read() const { return value_.load(std::memory_order_relaxed); }
  void Reset() { Set(0); }

 private:
  std::atomic<int64_t> value_ = 0;
};

// One cell for each value of an enum that counts up from 0.
template <typename Cell, typename Enum, int kSize>
class ByEnum {
 public:
  Cell& operator[](Enum value) { return cells_[static_cast<size_t>(value)]; }
  const Cell& operator[](Enum value) const { return cells_[static_cast<size_t>(value)]; }
  void Reset() {
    for (Cell& cell : cells_) cell.Reset();
  }

 private:
  std::array<Cell, kSize> cells_;
};

}  // namespace levee
