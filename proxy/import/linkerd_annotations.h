// SPDX-License-Identifier: Apache-2.0
// Reads the retries and timeouts that Linkerd takes from annotations of a Service or of a route.
#pragma once

#include "import/draft.h"
#include "import/source.h"

namespace levee::importer {

// The annotations of one object say this.
struct LinkerdRules {
  PolicyRules rules;
  bool retries = false;           // There are annotations of retries.
  bool timeouts = false;          // There are some of timeouts.
  Field<EjectionDraft> ejection;  // of a Service, by its failure accrual
};

LinkerdRules ReadLinkerdAnnotations(Section& annotations);

// Sets what the annotations of a route say, and else those of its service. The retries are replaced
// as a whole, and so are the timeouts.
void ApplyLinkerd(const LinkerdRules& route, const LinkerdRules& service, PolicyRules& rules);

}  // namespace levee::importer
