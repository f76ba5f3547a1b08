// SPDX-License-Identifier: Apache-2.0
#include "import/istio_host.h"

#include "absl/strings/str_split.h"

namespace levee::importer {

ServicePort ServiceOf(const std::string& host, const std::string& ns) {
  if (host.empty() || host == "*") return {"", host, 0};
  const std::vector<std::string> parts = absl::StrSplit(host, '.');
  if (parts.size() == 1) return {ns, host, 0};
  if (parts.size() >= 3 && parts[2] == "svc") return {parts[1], parts[0], 0};
  return {"", host, 0};
}

}  // namespace levee::importer
