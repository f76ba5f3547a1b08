// SPDX-License-Identifier: Apache-2.0
#include "cli/import_command.h"

#include <cstdio>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/input.h"
#include "cli/print_faults.h"
#include "import/import.h"

namespace levee {
namespace {

// Enough for the config dump of a large Envoy, and much more than anybody writes by hand.
constexpr size_t kMaxImportBytes = 16 << 20;

ImportedPolicy Import(ImportFormat format, const std::vector<ConfigText>& texts) {
  switch (format) {
    case ImportFormat::kGrpcServiceConfig:
      return ImportGrpcServiceConfig(texts);
    case ImportFormat::kEnvoy:
      return ImportEnvoy(texts);
    case ImportFormat::kGatewayApi:
      return ImportGatewayApi(texts);
    case ImportFormat::kLinkerd:
      return ImportLinkerd(texts);
    case ImportFormat::kIstio:
      return ImportIstio(texts);
  }
  return {};
}

}  // namespace

int RunImport(ImportFormat format, const std::vector<std::string>& files, bool strict) {
  FaultList unreadable;
  std::vector<ConfigText> texts;
  for (const std::string& file : files) {
    std::optional<ConfigText> text = ReadInput(file, kMaxImportBytes, unreadable);
    if (text.has_value()) texts.push_back(*std::move(text));
  }
  if (!unreadable.empty()) return PrintFaults(unreadable.Sorted(files));
  const ImportedPolicy imported = Import(format, texts);
  if (!imported.faults.empty()) PrintFaults(imported.faults);
  // Other faults come before any route was looked at.
  if (imported.faults.empty() || imported.routes.refused > 0) {
    std::fprintf(stderr, "%s\n", imported.routes.Format().c_str());
  }
  if (!imported.faults.empty()) return 1;
  std::fputs(imported.yaml.c_str(), stdout);
  return strict && !imported.routes.AllExact() ? 1 : 0;
}

}  // namespace levee
