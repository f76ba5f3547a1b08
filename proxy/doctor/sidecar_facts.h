// SPDX-License-Identifier: Apache-2.0
// What is known of a sidecar that runs, for the checks of it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "config/load.h"
#include "levee/admin/v1/admin.pb.h"
#include "tls/result.h"

namespace levee::doctor {

// The result of dialling an endpoint of the configuration.
struct Dialled {
  std::string upstream;
  std::string endpoint;  // "cart:50051"
  std::string failure;   // why there is no connection; empty if there is one
};

// The result of a TLS handshake with an endpoint of the configuration.
struct Handshake {
  std::string upstream;
  std::string endpoint;  // "cart:50051"
  // How it ended; nullopt: there was no connection to make it on.
  std::optional<tls::Result> result;
  std::string failure;  // why it did not succeed, or why there was no connection; else empty
};

// A sidecar as it can be seen from here.
struct SidecarFacts {
  admin::v1::State state;
  CheckedConfig config;  // its effective configuration, as it is checked here
  absl::Time now;        // by the clock here
  // Whether it runs in this container, so that files, memory and networks are the same.
  bool here = false;
  int64_t memory = 0;                 // bytes that it may have; 0: not known
  int64_t descriptors = 0;            // that its callers' connections may take; 0: not known
  std::vector<Dialled> dialled;       // only endpoints that it has not dialled itself
  std::vector<Handshake> handshakes;  // with endpoints of upstreams with TLS; none unless `here`
};

}  // namespace levee::doctor
