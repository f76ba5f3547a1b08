// SPDX-License-Identifier: Apache-2.0
// Imports Linkerd's annotations and ServiceProfiles as a policy.
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "import/draft_writer.h"
#include "import/gateway_route.h"
#include "import/import.h"
#include "import/kube_objects.h"
#include "import/linkerd_annotations.h"
#include "import/linkerd_profile.h"
#include "import/service_draft.h"

namespace levee {
namespace importer {
namespace {

constexpr char kLinkerdRest[] = "Every other call goes to its own authority, and is tried once.";

const std::vector<KubeKind>& LinkerdKinds() {
  static const auto& kinds = *new std::vector<KubeKind>{
      {"", "Service"},
      {"gateway.networking.k8s.io", "GRPCRoute"},
      {"gateway.networking.k8s.io", "HTTPRoute"},
      {"policy.linkerd.io", "HTTPRoute"},
      {"linkerd.io", "ServiceProfile"},
  };
  return kinds;
}

class LinkerdImport {
 public:
  explicit LinkerdImport(const std::vector<ConfigText>& texts)
      : draft_(TitleOf("Linkerd resources", FileOf(texts))) {}

  ImportedPolicy Run(const std::vector<ConfigText>& texts);

 private:
  void ReadService(KubeObject& object);
  void ReadRoute(KubeObject& object);
  void AddServiceRoutes(KubeObject& object);

  Source source_{Keys::kAsWritten, Durations::kGo};
  ServiceDraft draft_;
  std::map<ServicePort, LinkerdRules> services_;  // of port 0
};

LinkerdRules RulesOf(KubeObject& object) {
  return object.annotations.has_value() ? ReadLinkerdAnnotations(*object.annotations)
                                        : LinkerdRules();
}

void LinkerdImport::ReadService(KubeObject& object) {
  LinkerdRules& read = services_[{object.ns, object.name, 0}];
  read = RulesOf(object);
  if (read.ejection != Field<EjectionDraft>()) {
    draft_.Settings(object.ns, object.name).ejection = read.ejection;
  }
}

void LinkerdImport::ReadRoute(KubeObject& object) {
  const LinkerdRules own = RulesOf(object);
  for (ServiceRoute& route : ReadGatewayRoute(object)) {
    const auto service = services_.find({route.service.ns, route.service.name, 0});
    ApplyLinkerd(own, service == services_.end() ? LinkerdRules() : service->second, route.rules);
    draft_.Close(route.hosts, object.Label());
    draft_.Add(source_, std::move(route));
  }
}

// Adds a route for each port of a service with annotations.
void LinkerdImport::AddServiceRoutes(KubeObject& object) {
  const LinkerdRules& read = services_[{object.ns, object.name, 0}];
  const bool accrual = read.ejection != Field<EjectionDraft>();
  if (!read.retries && !read.timeouts && !accrual && read.rules == PolicyRules()) {
    draft_.draft().notes.push_back(
        absl::StrCat("Not read: ", object.Label(), ", which has no annotations of Linkerd."));
    return;
  }
  ServiceRoute route;
  route.notes = {absl::StrCat("From ", object.Label(), ".")};
  route.like = object.name;
  route.place = object.place;
  route.rules = read.rules;
  if (!read.retries) route.rules.retry.max_attempts.value = 1;
  std::vector<int64_t> ports;
  if (object.spec.has_value()) {
    for (Section& port : object.spec->Maps("ports")) ports.push_back(ReadPort(port, "port", true));
  }
  if (ports.empty()) ports.push_back(0);
  for (const int64_t port : ports) {
    route.service = {object.ns, object.name, port};
    route.hosts = GlobsOf(route.service);
    // The calls to a service with routes are theirs.
    std::erase_if(route.hosts, [this](const HostGlob& host) { return draft_.IsClosed(host); });
    if (route.hosts.empty()) continue;
    draft_.Add(source_, route);
    route.notes.clear();
  }
}

ImportedPolicy LinkerdImport::Run(const std::vector<ConfigText>& texts) {
  Notes& notes = draft_.draft().notes;
  std::vector<KubeObject> objects = ReadKubeObjects(source_, texts, LinkerdKinds(), notes);
  for (KubeObject& object : objects) {
    if (object.kind == "Service") ReadService(object);
  }
  // Linkerd prefers a profile to routes, and these to the service itself.
  for (KubeObject& object : objects) {
    if (object.kind != "ServiceProfile") continue;
    for (ServiceRoute& route : ReadServiceProfile(object)) draft_.Add(source_, std::move(route));
  }
  for (KubeObject& object : objects) {
    if (object.kind.ends_with("Route")) ReadRoute(object);
  }
  for (KubeObject& object : objects) {
    if (object.kind == "Service") AddServiceRoutes(object);
  }
  notes.emplace_back(
      "Linkerd reads headers that change its policy (l5d-retry-limit and others) if it is told to; "
      "Levee does not.");
  NoteExhausted("Linkerd", draft_.draft().policy_notes);
  return Finish(source_, draft_.Finish(source_, {kLinkerdRest, kNoRetries}));
}

}  // namespace
}  // namespace importer

ImportedPolicy ImportLinkerd(const std::vector<ConfigText>& texts) {
  return importer::LinkerdImport(texts).Run(texts);
}

}  // namespace levee
