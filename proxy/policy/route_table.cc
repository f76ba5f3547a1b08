// SPDX-License-Identifier: Apache-2.0
#include "policy/route_table.h"

#include <algorithm>
#include <functional>
#include <map>
#include <tuple>

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

std::vector<int> RulesOf(const std::vector<Route>& routes) {
  std::map<std::tuple<int, std::optional<int>, absl::Duration>, int> first;
  std::vector<int> rules;
  for (const Route& route : routes) {
    const int number = static_cast<int>(rules.size());
    rules.push_back(
        first.try_emplace({route.policy, route.shadow, route.timeout}, number).first->second);
  }
  return rules;
}

// Returns a hash of the values of these headers (FNV-1a), the same in every process; nullopt if the
// head has none of them.
std::optional<uint64_t> HashOf(const Metadata& head, const std::vector<std::string>& names) {
  uint64_t hash = 0xcbf29ce484222325;
  const auto add = [&hash](unsigned char byte) { hash = (hash ^ byte) * 0x100000001b3; };
  bool any = false;
  for (const std::string& name : names) {
    const std::string_view value = head.Get(name);
    any |= value.data() != nullptr;
    for (const char c : value) add(static_cast<unsigned char>(c));
    add(0);  // No value has this byte.
  }
  return any ? std::optional<uint64_t>(hash) : std::nullopt;
}

}  // namespace

bool GlobMatch(std::string_view pattern, std::string_view text) {
  return Matches(pattern, text, std::equal_to<char>());
}

std::vector<int> Route::Upstreams() const {
  if (deny) return {};
  if (split.empty()) return {upstream};
  std::vector<int> upstreams;
  for (const SplitPart& part : split) upstreams.push_back(part.upstream);
  return upstreams;
}

int Route::UpstreamOf(const Metadata& head, Random& random) const {
  if (split.empty()) return upstream;
  uint64_t sum = 0;
  for (const SplitPart& part : split) sum += static_cast<uint64_t>(part.weight);
  const std::optional<uint64_t> hash = HashOf(head, split_key);
  // FNV's bits are not uniform; those that a generator makes of it are.
  uint64_t drawn = hash.has_value() ? Random(*hash).Below(sum) : random.Below(sum);
  for (const SplitPart& part : split) {
    const auto weight = static_cast<uint64_t>(part.weight);
    if (drawn < weight) return part.upstream;
    drawn -= weight;
  }
  return upstream;
}

bool Route::TakesHeaders(const Metadata& head) const {
  return std::all_of(headers.begin(), headers.end(),
                     [&](const HeaderMatch& match) { return match.Holds(head); });
}

std::optional<RouteField> Route::Mismatch(const RouteRequest& request) const {
  const auto differs = [](auto matches, const std::string& pattern, const RouteFact& fact) {
    return fact.text().has_value() && !matches(pattern, *fact.text());
  };
  if (!Serves(listener, request.listener)) return RouteField::kListener;
  if (differs(HostMatches, authority, request.authority)) return RouteField::kAuthority;
  if (differs(GlobMatch, method, request.path)) return RouteField::kMethod;
  if (differs(GlobMatch, peer, request.peer)) return RouteField::kPeer;
  const Metadata* const head = request.headers.head();
  if (head != nullptr && !TakesHeaders(*head)) return RouteField::kHeaders;
  return std::nullopt;
}

// Each pattern of `narrow` stands for all texts that it matches.
bool Covers(const Route& wide, const Route& narrow) {
  const bool holds = !wide.Mismatch({.listener = narrow.listener,
                                     .authority = narrow.authority,
                                     .path = narrow.method,
                                     .peer = narrow.peer,
                                     .headers = std::nullopt})
                          .has_value();
  return holds &&
         std::all_of(wide.headers.begin(), wide.headers.end(), [&](const HeaderMatch& of_wide) {
           return std::any_of(narrow.headers.begin(), narrow.headers.end(),
                              [&](const HeaderMatch& each) { return Implies(each, of_wide); });
         });
}

RouteTable::RouteTable(std::vector<Route> routes)
    : routes_(std::move(routes)),
      rules_(levee::RulesOf(routes_)),
      tells_peers_apart_(std::any_of(routes_.begin(), routes_.end(),
                                     [](const Route& route) { return route.peer != "*"; })),
      looks_at_calls_(std::any_of(routes_.begin(), routes_.end(),
                                  [](const Route& route) { return route.DependsOnCalls(); })) {}

std::vector<int> RouteTable::Candidates(const RouteRequest& request) const {
  std::vector<int> candidates;
  for (const Route& route : routes_) {
    if (route.Mismatch(request).has_value()) continue;
    candidates.push_back(static_cast<int>(&route - routes_.data()));
    if (route.headers.empty()) break;
  }
  return candidates;
}

const Route* RouteTable::Find(const RouteRequest& request) const {
  for (const Route& route : routes_) {
    if (!route.Mismatch(request).has_value()) return &route;
  }
  return nullptr;
}

}  // namespace levee
