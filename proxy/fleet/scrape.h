// SPDX-License-Identifier: Apache-2.0
// What one sidecar's /metrics says.
#pragma once

#include <string_view>

#include "absl/status/statusor.h"
#include "fleet/figures.h"

namespace levee::fleet {

struct Scrape {
  double process_start = 0;  // Unix time
  SidecarFigures figures;    // since then
};

// The error says that the text is not that of a sidecar.
absl::StatusOr<Scrape> ReadScrape(std::string_view text);

// Returns what happened between two scrapes of one address. The error says that two processes have
// answered.
absl::StatusOr<SidecarFigures> Between(const Scrape& before, const Scrape& after);

}  // namespace levee::fleet
