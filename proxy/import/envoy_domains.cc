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
    Add(group, rank, *glob);
    route_count_ += routes.size();
    if (!any_port || glob->ends_with('*')) continue;
    Add(group, rank, absl::StrCat(*glob, ":*"));
    route_count_ += routes.size();
  }
  hosts_.push_back(std::move(routes));
}

void EnvoyDomains::Add(int group, DomainRank rank, std::string authority) {
  const size_t order = order_.emplace(authority, domains_.size()).first->second;
  domains_.push_back({group, rank, order, hosts_.size(), std::move(authority)});
}

std::string EnvoyDomains::NextAuthority(size_t domain) const {
  const std::string& authority = domains_[domain].authority;
  for (size_t later = domain + 1; later < domains_.size(); ++later) {
    if (GlobMatch(domains_[later].authority, authority)) return domains_[later].authority;
  }
  return "";
}

void EnvoyDomains::Close(size_t domain, std::vector<RouteDraft>& joined) const {
  const std::string next = NextAuthority(domain);
  if (next.empty() || next == domains_[domain].authority) return;
  RouteDraft rest;
  rest.authority = domains_[domain].authority;
  rest.upstream = kNowhere;
  rest.policy = kNoRetries;
  rest.notes.push_back(absl::StrCat("A call to ", rest.authority,
                                    " that none of its routes take has no route in Envoy. Here it "
                                    "fails at once, and does not go on to the routes of ",
                                    next, "."));
  joined.push_back(std::move(rest));
}

std::vector<RouteDraft> EnvoyDomains::Join() {
  std::stable_sort(domains_.begin(), domains_.end(), [](const Domain& a, const Domain& b) {
    return std::tie(a.rank, a.order, a.group) < std::tie(b.rank, b.order, b.group);
  });
  std::vector<RouteDraft> joined;
  for (size_t i = 0; i < domains_.size(); ++i) {
    for (RouteDraft& route : hosts_[domains_[i].host]) {
      route.authority = domains_[i].authority;
      joined.push_back(route);
      route.notes.clear();  // Once is enough for all domains.
    }
    Close(i, joined);
  }
  return joined;
}

}  // namespace levee::importer
