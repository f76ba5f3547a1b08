// SPDX-License-Identifier: Apache-2.0
// The figures of storms over many seeds.
#pragma once

#include <string_view>
#include <vector>

namespace levee {

// Puts figures, one of each seed, in order and prints how they are distributed. Returns them.
std::vector<double> Distribution(std::string_view what, std::vector<double> figures);

double Median(const std::vector<double>& ordered);
double Mean(const std::vector<double>& figures);

}  // namespace levee
