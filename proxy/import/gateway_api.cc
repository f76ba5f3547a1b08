// SPDX-License-Identifier: Apache-2.0
// Imports routes and policies of the Kubernetes Gateway API as a policy.
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "import/draft_writer.h"
#include "import/gateway_policy.h"
#include "import/gateway_route.h"
#include "import/gateway_traffic.h"
#include "import/import.h"
#include "import/kube_objects.h"
#include "import/service_draft.h"

namespace levee {
namespace importer {
namespace {

constexpr char kGatewayRest[] =
    "Every other call goes to its own authority, and is tried once. A gateway refuses calls to a "
    "host that none of its rules match; here they come to this route.";

const std::vector<KubeKind>& GatewayKinds() {
  static const auto& kinds = *new std::vector<KubeKind>{
      {"gateway.networking.k8s.io", "GRPCRoute"},
      {"gateway.networking.k8s.io", "HTTPRoute"},
      {"gateway.networking.k8s.io", "BackendTLSPolicy"},
      {"gateway.networking.x-k8s.io", "XBackendTrafficPolicy"},
      {"gateway.envoyproxy.io", "BackendTrafficPolicy"},
      {"gateway.kgateway.dev", "TrafficPolicy"},
  };
  return kinds;
}

void AddNotes(ServiceDraft& draft) {
  Notes& notes = draft.draft().notes;
  notes.emplace_back(
      "A GRPCRoute has neither retries nor timeouts; its calls are tried once, or as its "
      "BackendTrafficPolicy or TrafficPolicy says, or the policy that its annotation "
      "levee.dev/policy names.");
  notes.emplace_back(
      "A service is matched by its names with the namespace (cart.shop); callers that leave it out "
      "need an authority of their own.");
}

// Other tools read annotations of their own on the same routes.
void NoteLinkerd(const KubeObject& object, Notes& notes) {
  if (!object.annotations.has_value()) return;
  for (const std::string& key : object.annotations->Left()) {
    if (!absl::StrContains(key, "linkerd.io/")) continue;
    notes.push_back(absl::StrCat("Not read: ", key, " of ", object.Label(),
                                 "; levee import linkerd reads it."));
  }
}

}  // namespace
}  // namespace importer

ImportedPolicy ImportGatewayApi(const std::vector<ConfigText>& texts) {
  using namespace importer;  // NOLINT(google-build-using-namespace)
  Source source(Keys::kAsWritten, Durations::kGep2257);
  ServiceDraft draft(TitleOf("Gateway API resources", FileOf(texts)));
  AddNotes(draft);
  std::vector<KubeObject> objects =
      ReadKubeObjects(source, texts, GatewayKinds(), draft.draft().notes);
  TrafficPolicies traffic;
  for (KubeObject& object : objects) {
    if (object.kind == "XBackendTrafficPolicy") ReadXBackendTrafficPolicy(object, draft);
    if (object.kind == "BackendTLSPolicy") ReadBackendTlsPolicy(object, draft);
    if (object.kind == "BackendTrafficPolicy" || object.kind == "TrafficPolicy") {
      traffic.Read(object, draft.draft().notes);
    }
  }
  std::vector<ServiceRoute> routes;
  for (KubeObject& object : objects) {
    if (!object.kind.ends_with("Route")) continue;
    NoteLinkerd(object, draft.draft().notes);
    for (ServiceRoute& route : ReadGatewayRoute(object)) {
      traffic.Apply(object.kind, {object.ns, object.name}, route, draft);
      draft.Close(route.hosts, object.Label());
      routes.push_back(std::move(route));
    }
  }
  traffic.NoteUnused(draft.draft().notes);
  for (ServiceRoute& route : routes) draft.Add(source, std::move(route));
  return Finish(source, draft.Finish(source, {kGatewayRest, kNoRetries}));
}

}  // namespace levee
