// SPDX-License-Identifier: Apache-2.0
#include "call/storm_figures.h"

#include <algorithm>
#include <iostream>
#include <numeric>

namespace levee {

std::vector<double> Distribution(std::string_view what, std::vector<double> figures) {
  std::sort(figures.begin(), figures.end());
  const auto below = [&](size_t percent) { return figures[figures.size() * percent / 100]; };
  std::cout << what << ": mean " << Mean(figures) << ", median " << Median(figures)
            << ", 90 of 100 " << below(90) << ", 99 of 100 " << below(99) << ", worst "
            << figures.back() << " of " << figures.size() << " seeds\n";
  return figures;
}

double Median(const std::vector<double>& ordered) { return ordered[ordered.size() / 2]; }

double Mean(const std::vector<double>& figures) {
  return std::accumulate(figures.begin(), figures.end(), 0.0) / static_cast<double>(figures.size());
}

}  // namespace levee
