// SPDX-License-Identifier: Apache-2.0
// Imports Istio's VirtualServices and DestinationRules as a policy.
#include <string>
#include <utility>
#include <vector>

#include "import/draft_writer.h"
#include "import/import.h"
#include "import/istio_destination.h"
#include "import/istio_route.h"
#include "import/kube_objects.h"
#include "import/service_draft.h"

namespace levee {
namespace importer {
namespace {

constexpr char kIstioRest[] =
    "Every other call goes to its own authority. Istio retries it twice, Levee by the policy "
    "default.";

const std::vector<KubeKind>& IstioKinds() {
  static const auto& kinds = *new std::vector<KubeKind>{
      {"networking.istio.io", "VirtualService"},
      {"networking.istio.io", "DestinationRule"},
      {"", "Service"},
  };
  return kinds;
}

}  // namespace
}  // namespace importer

ImportedPolicy ImportIstio(const std::vector<ConfigText>& texts) {
  using namespace importer;  // NOLINT(google-build-using-namespace)
  Source source(Keys::kAsWritten, Durations::kGo);
  ServiceDraft draft(TitleOf("Istio resources", FileOf(texts)));
  Notes& notes = draft.draft().notes;
  std::vector<KubeObject> objects = ReadKubeObjects(source, texts, IstioKinds(), notes);
  KnownPorts ports;
  for (KubeObject& object : objects) {
    if (object.kind == "DestinationRule") ReadDestinationRule(object, draft);
    if (object.kind == "Service") ports.Read(object);
  }
  for (KubeObject& object : objects) {
    if (object.kind != "VirtualService") continue;
    for (ServiceRoute& route : ReadVirtualService(object, ports, notes)) {
      draft.Close(route.hosts, object.Label());
      draft.Add(source, std::move(route));
    }
  }
  NoteRetrying("Istio", draft.draft().policy_notes);
  return Finish(source, draft.Finish(source, {kIstioRest, "default"}));
}

}  // namespace levee
