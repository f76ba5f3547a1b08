// SPDX-License-Identifier: Apache-2.0
#include "cli/import_command.h"

#include <cstdio>
#include <optional>

#include "cli/input.h"
#include "import/import.h"

namespace levee {
namespace {

// Enough for the config dump of a large Envoy, and much more than anybody writes by hand.
constexpr size_t kMaxImportBytes = 16 << 20;

int Fail(const std::vector<Fault>& faults) {
  std::fprintf(stderr, "%s\n", FormatFaults(faults).c_str());
  return 1;
}

}  // namespace

int RunImport(ImportFormat format, const std::string& file) {
  FaultList unreadable;
  const std::optional<ConfigText> input = ReadInput(file, kMaxImportBytes, unreadable);
  if (!input.has_value()) return Fail(unreadable.Sorted({file}));
  const ImportedPolicy imported =
      format == ImportFormat::kEnvoy ? ImportEnvoy(*input) : ImportGrpcServiceConfig(*input);
  if (!imported.faults.empty()) return Fail(imported.faults);
  std::fputs(imported.yaml.c_str(), stdout);
  return 0;
}

}  // namespace levee
