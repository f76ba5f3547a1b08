// SPDX-License-Identifier: Apache-2.0
// Makes a draft of routes to Kubernetes services, whatever mesh or gateway they were written for.
#pragma once

#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "import/draft.h"
#include "import/envoy_match.h"
#include "import/kube_objects.h"
#include "import/method_match.h"
#include "import/policy_table.h"

namespace levee::importer {

// These hold for all calls to a service.
struct ServiceSettings {
  Notes notes;
  Field<BudgetDraft> budget;
  Field<absl::Duration> connect_timeout;
  Field<absl::Duration> max_connection_age;
  Field<TlsDraft> tls;
  Field<EjectionDraft> ejection;
};

// A host as routes name it, and the glob that Levee's routes have for it.
struct HostGlob {
  std::string host;
  std::string authority;
};

// Returns the globs of a host, with any port and without one.
std::vector<HostGlob> AnyPort(const std::string& host);

// Returns the globs of the names by which a service is called, in which the namespace stands. A
// port of 0 is any port.
std::vector<HostGlob> GlobsOf(const ServicePort& service);

// The route of the calls that no route of the source takes.
struct RestOfCalls {
  std::string note;
  std::string policy;
};

struct ServiceRoute {
  std::vector<HostGlob> hosts;
  MethodMatch match;
  // Without a port or a name calls go where they say themselves.
  ServicePort service;
  PolicyRules rules;      // equal to PolicyRules() for `default`
  std::string like;       // for the name of its policy
  std::string annotated;  // the policy that an annotation names
  Unsaid unsaid;          // without the conditions of `match`
  bool narrowed = false;  // leads to fewer destinations than the source's route
  Place place;
  std::string rule;                  // the name of the rule of a route of the Gateway API
  std::vector<ObjectName> gateways;  // to which that is attached
  Notes notes;
  bool in_order = false;  // Comes before others of its host, as it was added.
};

// How exact a route is: the negative lengths of service and method, and the negative number of
// further conditions. The smaller rank comes first.
using MethodRank = std::tuple<int, int, int>;

// The order of routes: by host as Envoy chooses, then those that are in order, then the most exact
// method first, then as added.
class ServiceDraft {
 public:
  explicit ServiceDraft(std::string title) { draft_.notes.push_back(std::move(title)); }
  ServiceDraft(const ServiceDraft&) = delete;
  ServiceDraft& operator=(const ServiceDraft&) = delete;

  Draft& draft() { return draft_; }

  // Of all ports of a service. Must be complete before routes are added.
  ServiceSettings& Settings(const std::string& ns, const std::string& name) {
    return settings_[{ns, name, 0}];
  }

  // It is a fault of `source` if there are more than 10000 routes; every host repeats its routes.
  void Add(Source& source, ServiceRoute route);

  // A call to one of the hosts that none of their routes match reaches no service, as `object`
  // says.
  void Close(const std::vector<HostGlob>& hosts, const std::string& object);
  bool IsClosed(const HostGlob& host) const {
    return closed_.contains(host.authority) || closed_.contains(host.host + ":*");
  }

  // Ends the draft with routes for services that have settings only, and one for every other call.
  // May be called once.
  Draft Finish(Source& source, const RestOfCalls& rest);

 private:
  struct Ranked {
    DomainRank domain;
    MethodRank method;
    RouteDraft route;
  };

  std::string UpstreamFor(const ServicePort& service);
  std::string PolicyFor(ServiceRoute& route);
  void ResolveAnnotations();
  const ServiceSettings* Find(const ServicePort& service) const;
  void Add(ServiceRoute route);
  void AddServicesWithoutRoute(const std::string& policy);
  void AddClosings();

  Draft draft_;
  Names upstream_names_{{"none", "anywhere", kNowhere}};
  PolicyTable policies_{draft_.policies, {"default", kNoRetries}};
  std::map<ServicePort, ServiceSettings> settings_;  // of port 0
  std::set<ServicePort> routed_;                     // with port 0
  std::map<ServicePort, std::string> upstreams_;
  std::map<std::string, std::pair<HostGlob, std::string>> closed_;  // by authority, with the object
  std::vector<Ranked> routes_;
  int sources_ = 0;                                        // routes of the source so far
  std::vector<std::pair<size_t, std::string>> annotated_;  // routes, and the policies to be theirs
};

}  // namespace levee::importer
