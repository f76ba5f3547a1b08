// SPDX-License-Identifier: Apache-2.0
// Who sends spans: the attributes of the process.
#pragma once

#include <map>
#include <string>

namespace levee {

// The values of the environment variables of these names; empty: not set.
struct ResourceEnvironment {
  std::string otel_service_name;
  std::string otel_resource_attributes;
  std::string pod_name;
  std::string pod_namespace;
};

// Returns the attributes by name: those of OTEL_RESOURCE_ATTRIBUTES (key=value,..., with %XX for
// other characters; one that cannot be read as a whole counts as not set), service.name by
// OTEL_SERVICE_NAME before these, or "levee", and the pod's where POD_NAME and POD_NAMESPACE say
// it. `instance`: service.instance.id, and `version`: service.version, unless they are given.
std::map<std::string, std::string> ResourceAttributes(const ResourceEnvironment& environment,
                                                      const std::string& instance,
                                                      const std::string& version);

}  // namespace levee
