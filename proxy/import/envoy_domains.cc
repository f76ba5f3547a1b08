// SPDX-License-Identifier: Apache-2.0
#include "import/envoy_domains.h"

#include <algorithm>
#include <optional>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "config/fault.h"
#include "policy/route_table.h"

namespace levee::importer {
namespace {

bool TakesEveryCall(const std::vector<RouteDraft>& routes) {
  return std::any_of(routes.begin(), routes.end(), [](const RouteDraft& route) {
    return !route.left_out && (route.method == "*" || route.method == "/*");
  });
}

}  // namespace

void EnvoyDomains::AddVirtualHost(int group, const std::vector<std::string>& domains, bool any_port,
                                  std::vector<RouteDraft> routes, Notes& notes) {
  groups_.insert(group);
  for (const std::string& domain : domains) {
    const std::optional<std::string> glob = AuthorityGlob(domain);
    if (!glob.has_value()) {
      notes.push_back(
          absl::StrCat("Left out: domain ", Quoted(domain), ", which matches no call."));
      continue;
    }
    const DomainRank rank = RankDomain(*glob);
    domains_.push_back({group, rank, hosts_.size(), *glob});
    route_count_ += routes.size();
    if (!any_port || glob->ends_with('*')) continue;
    domains_.push_back({group, rank, hosts_.size(), absl::StrCat(*glob, ":*")});
    route_count_ += routes.size();
  }
  hosts_.push_back(std::move(routes));
}

std::string EnvoyDomains::NextAuthority(size_t domain) const {
  if (TakesEveryCall(hosts_[domains_[domain].host])) return "";
  for (size_t later = domain + 1; later < domains_.size(); ++later) {
    if (GlobMatch(domains_[later].authority, domains_[domain].authority)) {
      return domains_[later].authority;
    }
  }
  return "";
}

std::vector<RouteDraft> EnvoyDomains::Join() {
  std::stable_sort(domains_.begin(), domains_.end(), [](const Domain& a, const Domain& b) {
    return std::tie(a.group, a.rank) < std::tie(b.group, b.rank);
  });
  std::vector<RouteDraft> joined;
  for (size_t i = 0; i < domains_.size(); ++i) {
    const Domain& domain = domains_[i];
    std::vector<RouteDraft>& routes = hosts_[domain.host];
    if (routes.empty()) continue;
    const std::string next = NextAuthority(i);
    if (!next.empty()) {
      routes.front().notes.push_back(
          absl::StrCat("A call to ", domain.authority,
                       " that none of its routes match has no route in Envoy; here it goes on to "
                       "those of ",
                       next, "."));
    }
    for (RouteDraft& route : routes) {
      route.authority = domain.authority;
      joined.push_back(route);
      route.notes.clear();  // Once is enough for all domains.
    }
  }
  return joined;
}

}  // namespace levee::importer
