// SPDX-License-Identifier: Apache-2.0
// Texts of other tools: whatever is in one, it becomes either faults with places or a policy that
// `levee check` accepts.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>

#include "config/load.h"
#include "import/import.h"

namespace levee {
namespace {

void Check(const ImportedPolicy& imported) {
  if (imported.faults.empty() == imported.yaml.empty()) {
    std::fprintf(stderr, "neither a policy nor faults, or both\n");
    std::abort();
  }
  if (!imported.faults.empty()) return;
  const CheckedConfig checked = CheckConfig({{"out", imported.yaml}}, std::nullopt);
  if (checked.faults.empty()) return;
  std::fprintf(stderr, "levee check refuses what was imported:\n%s\n%s\n", imported.yaml.c_str(),
               FormatFaults(checked.faults).c_str());
  std::abort();
}

}  // namespace
}  // namespace levee

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const levee::ConfigText text{"f", std::string(reinterpret_cast<const char*>(data), size)};
  levee::Check(levee::ImportGrpcServiceConfig({text}));
  levee::Check(levee::ImportEnvoy({text}));
  levee::Check(levee::ImportGatewayApi({text}));
  levee::Check(levee::ImportLinkerd({text}));
  levee::Check(levee::ImportIstio({text}));
  return 0;
}
