// SPDX-License-Identifier: Apache-2.0
// Which of several routes the headers of a call choose.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "policy/route_table.h"
#include "wire/metadata.h"

namespace levee {

// The routes that calls of one listener, authority, path and caller may take by their headers.
// Values that routes name exactly are looked up, however many routes there are; other conditions
// are looked at one by one. Immutable.
class RouteChoice {
 public:
  // `candidates`: RouteTable::Candidates. `table` outlives it.
  RouteChoice(const RouteTable& table, const std::vector<int>& candidates);

  // Returns the number of the first route whose conditions `head` meets; nullopt: it meets none's.
  std::optional<int> Choose(const Metadata& head) const;

  // Returns about how many bytes it takes.
  size_t bytes() const { return bytes_; }

 private:
  using ByValue = absl::flat_hash_map<std::string, std::vector<int>>;

  bool Takes(int route, const Metadata& head) const;

  const RouteTable& table_;
  std::vector<std::pair<std::string, ByValue>> exact_;  // by the name of a header
  std::vector<int> others_;                             // no condition of theirs is exact
  size_t bytes_;
};

}  // namespace levee
