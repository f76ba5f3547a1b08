// SPDX-License-Identifier: Apache-2.0
// Writes a draft as a policy file.
#pragma once

#include <string>

#include "import/draft.h"
#include "import/import.h"
#include "import/source.h"

namespace levee::importer {

// Returns YAML that `levee check` accepts, with every note of the draft as a comment at its place.
std::string WriteDraft(const Draft& draft);

// Returns the result of an import: the draft as a policy file, or the faults of the source. It is a
// fault if the file would be larger than Levee reads.
ImportedPolicy Finish(Source& source, const Draft& draft);

}  // namespace levee::importer
