// SPDX-License-Identifier: Apache-2.0
// Configuration texts: whatever is in a file, it is judged, and what is judged good means the same
// when it is written out and read again.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_split.h"
#include "base/check.h"
#include "base/utf8.h"
#include "config/check_report.h"
#include "config/load.h"

namespace levee {
namespace {

// A fault of the file as a whole has line 0; one that only says how many more there are has no
// file.
void CheckPlace(const Fault& fault, const std::vector<std::string>& lines) {
  LEVEE_CHECK(fault.code != CheckCode::kNone && !fault.text.empty());
  if (fault.line == 0) return;
  const auto line = static_cast<size_t>(fault.line);
  if (fault.column >= 1 && line <= lines.size() &&
      static_cast<size_t>(fault.column) <= lines[line - 1].size() + 1) {
    return;
  }
  std::fprintf(stderr, "a place outside of the text: %s\n", FormatFault(fault).c_str());
  std::abort();
}

void CheckMeansTheSameAgain(const Snapshot& snapshot) {
  const std::string yaml = snapshot.effective.yaml;
  const CheckedConfig again = CheckConfig({{"again", yaml}}, std::nullopt);
  if (again.snapshot != nullptr && again.snapshot->sha256 == snapshot.sha256) return;
  std::fprintf(stderr, "what is in effect means something else when read again:\n%s\n%s\n",
               yaml.c_str(), FormatFaults(again.faults).c_str());
  std::abort();
}

void Run(const std::string& text) {
  const CheckedConfig checked = CheckConfig({{"f", text}}, std::nullopt);
  LEVEE_CHECK((checked.snapshot == nullptr) == !checked.faults.empty());
  const std::vector<std::string> lines = absl::StrSplit(text, '\n');
  for (const Fault& fault : checked.faults) CheckPlace(fault, lines);
  for (const Fault& warning : checked.warnings) CheckPlace(warning, lines);
  const std::string report = CheckReportJson({"f"}, checked, checked.faults.empty());
  LEVEE_CHECK(FindInvalidUtf8(report) == std::string::npos);
  if (checked.snapshot == nullptr) return;
  LEVEE_CHECK(!checked.snapshot->effective.json.empty());
  CheckMeansTheSameAgain(*checked.snapshot);
}

}  // namespace
}  // namespace levee

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  levee::Run(std::string(reinterpret_cast<const char*>(data), size));
  return 0;
}
