// SPDX-License-Identifier: Apache-2.0
// Translates failures in a row, after which an endpoint gets no calls for a while.
#pragma once

#include <cstdint>
#include <string>

#include "import/draft.h"
#include "import/source.h"

namespace levee::importer {

// The keys by which Envoy and Istio say it.
struct OutlierKeys {
  std::string failures;
  std::string base;
  std::string max;  // empty: there is none
};

// Reads outlier detection. The keys that have no equivalent get a note.
void ReadOutlierDetection(Section section, const OutlierKeys& keys, Field<EjectionDraft>& field);

}  // namespace levee::importer
