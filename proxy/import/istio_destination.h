// SPDX-License-Identifier: Apache-2.0
// Reads a DestinationRule of Istio.
#pragma once

#include "import/kube_objects.h"
#include "import/service_draft.h"

namespace levee::importer {

// Adds the budget, the ejection, the connect timeout and the TLS of the rule to the settings of its
// service.
void ReadDestinationRule(KubeObject& object, ServiceDraft& draft);

}  // namespace levee::importer
