// SPDX-License-Identifier: Apache-2.0
// Puts the routes of virtual hosts into the order in which Envoy searches them.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "import/draft.h"
#include "import/envoy_match.h"

namespace levee::importer {

// Envoy first chooses the virtual host with the most exact domain and then searches only its
// routes. Levee has one list of routes, in which the first that matches wins.
class EnvoyDomains {
 public:
  // `group` tells route configurations apart; of equal domains, those of lower groups come first.
  // `domains` are as in the file. With `any_port` they match any port of a call's authority. Notes
  // about the domains go to `notes`.
  void AddVirtualHost(int group, const std::vector<std::string>& domains, bool any_port,
                      std::vector<RouteDraft> routes, Notes& notes);

  bool empty() const { return domains_.empty(); }
  int groups() const { return static_cast<int>(groups_.size()); }

  // Returns the number of routes; every domain repeats the routes of its virtual host.
  size_t route_count() const { return route_count_; }

  // Returns all routes. May be called once.
  std::vector<RouteDraft> Join();

 private:
  struct Domain {
    int group;
    DomainRank rank;
    size_t order;  // of its authority in the file
    size_t host;
    std::string authority;
  };

  // Returns the authority whose routes come next for a call to the domain; empty if there is none.
  std::string NextAuthority(size_t domain) const;

  // Adds the end of the domain's routes, unless no call goes on from there.
  void Close(size_t domain, std::vector<RouteDraft>& joined) const;

  void Add(int group, DomainRank rank, std::string authority);

  std::set<int> groups_;
  std::map<std::string, size_t> order_;         // by authority
  std::vector<std::vector<RouteDraft>> hosts_;  // the routes of each virtual host
  std::vector<Domain> domains_;
  size_t route_count_ = 0;
};

}  // namespace levee::importer
