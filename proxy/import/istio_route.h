// SPDX-License-Identifier: Apache-2.0
// Reads a VirtualService of Istio.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "import/kube_objects.h"
#include "import/service_draft.h"
#include "import/source.h"

namespace levee::importer {

// The ports of the services that are in the input.
class KnownPorts {
 public:
  void Read(KubeObject& service);

  // Returns the port of a service that has just one; 0 if it has several, or is not known.
  int64_t OnlyPortOf(const ServicePort& service) const;

 private:
  std::map<ServicePort, std::vector<int64_t>> ports_;  // by the service, of port 0
};

// Returns a route of Levee for each match of each of its routes, in their order. `notes` are about
// the file as a whole.
std::vector<ServiceRoute> ReadVirtualService(KubeObject& object, const KnownPorts& ports,
                                             Notes& notes);

}  // namespace levee::importer
