// SPDX-License-Identifier: Apache-2.0
// Reads policies of gateways, which are attached to routes: Envoy Gateway's BackendTrafficPolicy,
// and kgateway's TrafficPolicy.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "import/kube_objects.h"
#include "import/service_draft.h"
#include "import/source.h"

namespace levee::importer {

// The content of one policy. A part that it does not have is empty.
struct TrafficRules {
  std::string label;
  std::optional<RetryDraft> retry;
  Field<absl::Duration> timeout;
  Field<std::vector<RateLimitDraft>> rate_limit;
  Field<absl::Duration> connect_timeout;
  Field<absl::Duration> max_connection_age;
  Field<EjectionDraft> ejection;
};

// All policies, of which each route has the one that is attached most closely.
class TrafficPolicies {
 public:
  void Read(KubeObject& object, Notes& notes);

  // Sets what the policy of a route of the object `kind` `name` says. Its part about connections
  // goes to the settings of the route's service.
  void Apply(const std::string& kind, const ObjectName& name, ServiceRoute& route,
             ServiceDraft& draft);

  // Notes the policies that no route has.
  void NoteUnused(Notes& notes) const;

 private:
  struct Attached {
    std::string kind;
    ObjectName target;
    std::string section;  // a rule of a route, or a listener; empty: all
    TrafficRules rules;
    bool used = false;
  };
  Attached* Find(const std::string& kind, const ObjectName& name, const std::string& section);
  Attached* FindFor(const std::string& kind, const ObjectName& name, const ServiceRoute& route);

  std::vector<Attached> attached_;
};

}  // namespace levee::importer
