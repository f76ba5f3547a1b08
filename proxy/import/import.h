// Policies of other tools as Levee's.
#pragma once

#include <string>
#include <vector>

#include "config/fault.h"
#include "config/load.h"

namespace levee {

// Either a policy file or what is wrong with the input.
struct ImportedPolicy {
  std::string yaml;           // with what has no equivalent as comments; empty if there are faults
  std::vector<Fault> faults;  // in the order of lines
};

// A gRPC service config (grpc/doc/service_config.md; retries: gRFC A6), in JSON or as YAML. What
// gRPC itself refuses is a fault.
ImportedPolicy ImportGrpcServiceConfig(const ConfigText& input);

// An Envoy bootstrap (v3), a config dump, or any part of one that has routes, virtual hosts,
// clusters, a retry policy or a local rate limit; field names as in protobuf files or in JSON.
ImportedPolicy ImportEnvoy(const ConfigText& input);

}  // namespace levee
