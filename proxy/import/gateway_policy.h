// SPDX-License-Identifier: Apache-2.0
// Reads the policies of the Gateway API that are attached to services: XBackendTrafficPolicy and
// BackendTLSPolicy.
#pragma once

#include "import/kube_objects.h"
#include "import/service_draft.h"

namespace levee::importer {

// Adds the budget of an XBackendTrafficPolicy to the settings of its services.
void ReadXBackendTrafficPolicy(KubeObject& object, ServiceDraft& draft);

// Adds the TLS of a BackendTLSPolicy to the settings of its services.
void ReadBackendTlsPolicy(KubeObject& object, ServiceDraft& draft);

}  // namespace levee::importer
