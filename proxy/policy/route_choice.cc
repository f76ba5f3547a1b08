// SPDX-License-Identifier: Apache-2.0
#include "policy/route_choice.h"

#include <algorithm>

#include "base/text.h"

namespace levee {

RouteChoice::RouteChoice(const RouteTable& table, const std::vector<int>& candidates)
    : table_(table), bytes_(sizeof *this) {
  for (const int number : candidates) {
    const std::vector<HeaderMatch>& matches = table.routes()[static_cast<size_t>(number)].headers;
    const auto match = std::find_if(matches.begin(), matches.end(), [](const HeaderMatch& each) {
      return each.test == HeaderTest::kExact;
    });
    if (match == matches.end()) {
      others_.push_back(number);
      bytes_ += sizeof number;
      continue;
    }
    auto values = std::find_if(exact_.begin(), exact_.end(),
                               [&](const auto& each) { return each.first == match->name; });
    if (values == exact_.end()) values = exact_.insert(exact_.end(), {match->name, {}});
    values->second[match->text].push_back(number);
    bytes_ += sizeof(ByValue::value_type) + match->text.size() + sizeof number;
  }
}

bool RouteChoice::Takes(int route, const Metadata& head) const {
  return table_.routes()[static_cast<size_t>(route)].TakesHeaders(head);
}

std::optional<int> RouteChoice::Choose(const Metadata& head) const {
  std::optional<int> first;
  // Looks for an earlier route in an ascending list.
  const auto look = [&](const std::vector<int>& routes) {
    for (const int route : routes) {
      if (first.has_value() && *first < route) return;
      if (Takes(route, head)) first = route;
    }
  };
  for (const auto& [name, values] : exact_) {
    for (size_t i = 0; i < head.size(); ++i) {
      const Metadata::Field field = head[i];
      if (field.name != name) continue;
      if (const auto found = values.find(Abseil(field.value)); found != values.end()) {
        look(found->second);
      }
    }
  }
  look(others_);
  return first;
}

}  // namespace levee
