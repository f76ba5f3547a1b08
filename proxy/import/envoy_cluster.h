// An Envoy cluster as an upstream, and what it bounds retries by.
#pragma once

#include <string>

#include "import/draft.h"
#include "import/source.h"

namespace levee::importer {

struct ClusterDraft {
  UpstreamDraft upstream;     // its name is the cluster's, which need not be a name of Levee's
  Field<BudgetDraft> budget;  // for the policies of the routes that lead to it
};
ClusterDraft ReadEnvoyCluster(Section cluster);

// An upstream whose endpoints are still to be filled in; `why` is a sentence. Until then it dials
// what a call's :authority says.
UpstreamDraft StubUpstream(const std::string& name, const std::string& why);

}  // namespace levee::importer
