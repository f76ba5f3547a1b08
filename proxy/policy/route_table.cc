// SPDX-License-Identifier: Apache-2.0
#include "policy/route_table.h"

#include <algorithm>

namespace levee {

namespace {

char Lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

std::string Lower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = Lower(c);
  return lower;
}

}  // namespace

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

bool Route::Matches(const RouteRequest& request) const {
  const bool serves =
      listener.direction == request.listener.direction &&
      (listener.index == ListenerRef::kNone || listener.index == request.listener.index);
  return serves && GlobMatch(Lower(authority), Lower(request.authority)) &&
         GlobMatch(method, request.path) && GlobMatch(peer, request.peer);
}

RouteTable::RouteTable(std::vector<Route> routes)
    : routes_(std::move(routes)),
      tells_peers_apart_(std::any_of(routes_.begin(), routes_.end(),
                                     [](const Route& route) { return route.peer != "*"; })) {}

const Route* RouteTable::Find(const RouteRequest& request) const {
  for (const Route& route : routes_) {
    if (route.Matches(request)) return &route;
  }
  return nullptr;
}

}  // namespace levee
