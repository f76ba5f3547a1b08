// SPDX-License-Identifier: Apache-2.0
#include "fleet/join.h"

#include <algorithm>
#include <cstddef>
#include <string_view>

#include "absl/strings/str_split.h"
#include "base/host_port.h"
#include "base/text.h"

namespace levee::fleet {
namespace {

using Words = std::vector<std::string>;

Words LabelsOf(std::string_view name) {
  if (name.starts_with("dns:")) name.remove_prefix(4);
  if (const auto parts = SplitHostPort(name); parts.has_value()) name = parts->host;
  return absl::StrSplit(Abseil(name), '.', absl::SkipEmpty());
}

// Returns how many labels both have in common; 0 if neither is the beginning of the other.
size_t InCommon(const Words& one, const Words& other) {
  const size_t common = std::min(one.size(), other.size());
  return std::equal(one.begin(), one.begin() + static_cast<std::ptrdiff_t>(common), other.begin())
             ? common
             : 0;
}

bool SameNamespace(const Words& one, const Words& other) {
  return one.size() > 1 && other.size() > 1 && one[1] == other[1];
}

}  // namespace

std::string ApplicationOf(const std::string& upstream, const std::string& caller,
                          const std::vector<std::string>& applications, const Joins& joins) {
  if (const auto given = joins.find(upstream); given != joins.end()) return given->second;
  const Words wanted = LabelsOf(upstream);
  const Words from = LabelsOf(caller);
  std::string best;
  size_t best_rank = 0;
  bool several = false;
  for (const std::string& application : applications) {
    if (application == upstream) return application;
    const Words name = LabelsOf(application);
    const size_t common = InCommon(wanted, name);
    if (common == 0) continue;
    const size_t rank = 2 * common + (SameNamespace(from, name) ? 1 : 0);
    if (rank < best_rank) continue;
    several = rank == best_rank;
    best = application;
    best_rank = rank;
  }
  return several ? "" : best;
}

}  // namespace levee::fleet
