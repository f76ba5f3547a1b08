// SPDX-License-Identifier: Apache-2.0
#include "demo/table_row.h"

#include "absl/strings/str_format.h"

namespace levee::demo {

std::string Row(absl::string_view what, absl::string_view plain, absl::string_view levee) {
  return absl::StrFormat("%-24s %18s %18s", what, plain, levee);
}

std::string PerSecond(double rate) { return absl::StrFormat("%.0f/s", rate); }

std::string RecoveryText(const RunRecord& record, const Summary& summary) {
  if (summary.recovery.has_value()) {
    return absl::StrFormat("%.1f s", absl::ToDoubleSeconds(*summary.recovery));
  }
  return absl::StrFormat("not within %.1f s",
                         absl::ToDoubleSeconds(record.length() - record.schedule().storm_end()));
}

}  // namespace levee::demo
