// SPDX-License-Identifier: Apache-2.0
// Reads an Envoy cluster as an upstream with a bound on retries.
#pragma once

#include <string>

#include "import/draft.h"
#include "import/source.h"

namespace levee::importer {

struct ClusterDraft {
  UpstreamDraft upstream;     // named as the cluster, which Levee may not accept as a name
  Field<BudgetDraft> budget;  // for the policies of the routes that lead to it
};
ClusterDraft ReadEnvoyCluster(Section cluster);

// Whether two clusters of one name are the same one, whatever the notes about them.
bool SameCluster(const ClusterDraft& a, const ClusterDraft& b);

// Returns an upstream whose endpoints the user must fill in; `why` is a sentence. Until then it
// dials a call's :authority.
UpstreamDraft StubUpstream(const std::string& name, const std::string& why);

}  // namespace levee::importer
