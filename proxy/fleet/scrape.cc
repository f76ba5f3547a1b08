// SPDX-License-Identifier: Apache-2.0
#include "fleet/scrape.h"

#include <vector>

#include "base/exposition.h"

namespace levee::fleet {

absl::StatusOr<Scrape> ReadScrape(std::string_view text) {
  const std::vector<MetricSample> samples = ReadExposition(text);
  Scrape scrape;
  bool of_levee = false;
  for (const MetricSample& sample : samples) {
    if (sample.name == "levee_build_info") of_levee = true;
    if (sample.name == "process_start_time_seconds") scrape.process_start = sample.value;
  }
  if (!of_levee) return absl::UnavailableError("the answer has no metrics of Levee");
  scrape.figures = AddUp(samples);
  return scrape;
}

absl::StatusOr<SidecarFigures> Between(const Scrape& before, const Scrape& after) {
  if (before.process_start != after.process_start) {
    return absl::UnavailableError(
        "it was restarted meanwhile, or the address is that of several sidecars");
  }
  return Growth(before.figures, after.figures);
}

}  // namespace levee::fleet
