// SPDX-License-Identifier: Apache-2.0
#include "policy/route_table.h"

namespace levee {

bool GlobMatch(std::string_view pattern, std::string_view text) {
  // Only the last star seen can need another length: an earlier one that took the shortest run
  // leaves the later stars the most text.
  size_t p = 0;
  size_t t = 0;
  size_t star = std::string_view::npos;  // position of the last star in `pattern`
  size_t after_star = 0;                 // first character of `text` behind its run
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      after_star = t;
    } else if (p < pattern.size() && pattern[p] == text[t]) {
      ++p;
      ++t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++after_star;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

const Route* RouteTable::Find(std::string_view authority, std::string_view path) const {
  for (const Route& route : routes_) {
    if (GlobMatch(route.authority, authority) && GlobMatch(route.method, path)) return &route;
  }
  return nullptr;
}

}  // namespace levee
