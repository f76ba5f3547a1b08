// SPDX-License-Identifier: Apache-2.0
// The real binary as the guard of services.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "integration/byte_call.h"
#include "integration/sidecar_process.h"

namespace levee {

// The configuration of a sidecar with a guard before each of the services, on the listeners
// "ingress0", "ingress1", ... `guard`: the fields of the policy.
inline std::string GuardsText(const std::vector<std::string>& services, const std::string& guard) {
  std::string listeners, upstreams, routes;
  for (size_t i = 0; i < services.size(); ++i) {
    absl::StrAppend(&listeners, "  - {name: ingress", i,
                    ", address: \"127.0.0.1:0\", direction: inbound}\n");
    absl::StrAppend(&upstreams, "  - {name: app", i, ", endpoints: [\"", services[i], "\"]}\n");
    absl::StrAppend(&routes, "  - {match: {listener: ingress", i, "}, upstream: app", i,
                    ", policy: protect}\n");
  }
  return absl::StrCat("listeners:\n", listeners, "upstreams:\n", upstreams, "routes:\n", routes,
                      "policies:\n  - {name: protect, guard: {", guard,
                      "}}\nmetrics: {address: \"127.0.0.1:0\"}\nadmin: {address: none}\n");
}

// A sidecar with guards, and a channel to the first of them.
struct GuardedServices {
  GuardedServices(const std::vector<std::string>& services, const std::string& guard)
      : config(GuardsText(services, guard)),
        sidecar(SidecarProcess::Run({"--config", config.path()})),
        channel(NewChannel(address(0))) {}

  const std::string& address(size_t service) const {
    return sidecar->address(absl::StrCat("ingress", service));
  }
  double Refused() const {
    return sidecar->Sum("levee_guard_calls_total", {R"(decision="refused")"});
  }

  const TempFile config;
  const std::unique_ptr<SidecarProcess> sidecar;
  const ChannelPtr channel;
};

}  // namespace levee
