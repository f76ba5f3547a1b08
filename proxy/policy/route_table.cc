// SPDX-License-Identifier: Apache-2.0
#include "policy/route_table.h"

#include <algorithm>
#include <functional>

namespace levee {

namespace {

char Lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

// `same`: whether two characters are the same.
template <typename Same>
bool Matches(std::string_view pattern, std::string_view text, Same same) {
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
    } else if (p < pattern.size() && same(pattern[p], text[t])) {
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

bool HostMatches(std::string_view pattern, std::string_view host) {
  return Matches(pattern, host, [](char a, char b) { return Lower(a) == Lower(b); });
}

bool Serves(const ListenerRef& of_route, const ListenerRef& listener) {
  return of_route.direction == listener.direction &&
         (of_route.index == ListenerRef::kNone || of_route.index == listener.index);
}

}  // namespace

bool GlobMatch(std::string_view pattern, std::string_view text) {
  return Matches(pattern, text, std::equal_to<char>());
}

std::optional<RouteField> Route::Mismatch(const RouteRequest& request) const {
  const auto differs = [](auto matches, const std::string& pattern, const RouteFact& fact) {
    return fact.text().has_value() && !matches(pattern, *fact.text());
  };
  if (!Serves(listener, request.listener)) return RouteField::kListener;
  if (differs(HostMatches, authority, request.authority)) return RouteField::kAuthority;
  if (differs(GlobMatch, method, request.path)) return RouteField::kMethod;
  if (differs(GlobMatch, peer, request.peer)) return RouteField::kPeer;
  return std::nullopt;
}

// Each pattern of `narrow` stands for all texts that it matches.
bool Covers(const Route& wide, const Route& narrow) {
  return !wide.Mismatch({.listener = narrow.listener,
                         .authority = narrow.authority,
                         .path = narrow.method,
                         .peer = narrow.peer})
              .has_value();
}

RouteTable::RouteTable(std::vector<Route> routes)
    : routes_(std::move(routes)),
      tells_peers_apart_(std::any_of(routes_.begin(), routes_.end(),
                                     [](const Route& route) { return route.peer != "*"; })) {}

const Route* RouteTable::Find(const RouteRequest& request) const {
  for (const Route& route : routes_) {
    if (!route.Mismatch(request).has_value()) return &route;
  }
  return nullptr;
}

}  // namespace levee
