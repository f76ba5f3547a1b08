// The routes of virtual hosts in the order in which Envoy looks for them.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "import/draft.h"
#include "import/envoy_match.h"

namespace levee::importer {

// Envoy first takes the virtual host with the most exact domain and then looks at its routes alone.
// Levee has one list of routes, in which the first that matches wins.
class EnvoyDomains {
 public:
  // `group` tells route configurations apart; those with a lower one come first. `domains` are as
  // in the file. With `any_port` they match whatever port a call's authority has. What is said of
  // the domains goes to `notes`.
  void AddVirtualHost(int group, const std::vector<std::string>& domains, bool any_port,
                      std::vector<RouteDraft> routes, Notes& notes);

  bool empty() const { return domains_.empty(); }
  int groups() const { return static_cast<int>(groups_.size()); }

  // How many routes there are; every domain repeats those of its virtual host.
  size_t route_count() const { return route_count_; }

  // All routes. To be called once.
  std::vector<RouteDraft> Join();

 private:
  struct Domain {
    int group;
    DomainRank rank;
    size_t host;
    std::string authority;
  };

  // Where a call goes on that none of the domain's routes match; empty if there is no such call, or
  // no such place.
  std::string NextAuthority(size_t domain) const;

  std::set<int> groups_;
  std::vector<std::vector<RouteDraft>> hosts_;  // the routes of each virtual host
  std::vector<Domain> domains_;
  size_t route_count_ = 0;
};

}  // namespace levee::importer
