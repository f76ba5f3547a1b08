// SPDX-License-Identifier: Apache-2.0
// A figure of many runs, one per seed.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <ostream>
#include <utility>
#include <vector>

namespace levee {

// Filled before anything is asked.
class OverSeeds {
 public:
  void Add(uint64_t seed, double value) {
    const std::pair entry(value, seed);
    values_.insert(std::upper_bound(values_.begin(), values_.end(), entry), entry);
  }

  double Least() const { return values_.front().first; }
  double Most() const { return values_.back().first; }
  double Mean() const {
    const auto add = [](double sum, const auto& entry) { return sum + entry.first; };
    return std::accumulate(values_.begin(), values_.end(), 0.0, add) /
           static_cast<double>(values_.size());
  }
  // Of the mean of all seeds that there might be, as far as these runs tell; 0: there is one run.
  double StandardError() const {
    const auto n = static_cast<double>(values_.size());
    const auto add = [mean = Mean()](double sum, const auto& entry) {
      return sum + (entry.first - mean) * (entry.first - mean);
    };
    const double squares = std::accumulate(values_.begin(), values_.end(), 0.0, add);
    return n < 2 ? 0 : std::sqrt(squares / (n - 1) / n);
  }
  // The value that the share `q` of the runs is below; 0 <= q < 1.
  double Quantile(double q) const {
    return values_[static_cast<size_t>(q * static_cast<double>(values_.size()))].first;
  }

  // GoogleTest prints this where a figure is not as expected.
  friend std::ostream& operator<<(std::ostream& out, const OverSeeds& figure) {
    out << "least " << figure.Least() << " (seed " << figure.values_.front().second << ")";
    for (const int percent : {1, 10, 50, 90, 99}) {
      out << ", " << percent << "% " << figure.Quantile(percent / 100.0);
    }
    return out << ", most " << figure.Most() << " (seed " << figure.values_.back().second
               << "), mean " << figure.Mean() << " of " << figure.values_.size() << " seeds";
  }

 private:
  std::vector<std::pair<double, uint64_t>> values_;  // in order, each with its seed
};

}  // namespace levee
