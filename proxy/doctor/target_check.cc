// SPDX-License-Identifier: Apache-2.0
#include "doctor/target_check.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"

namespace levee::doctor {
namespace {

constexpr const char* kCure =
    "see that the name and the port are right, the service runs, and network policies let Levee "
    "through";

// The endpoints of an upstream, by whether they are reached.
struct Reach {
  uint32_t reached = 0;
  uint32_t unreached = 0;
  std::string example;  // of one that is not: "10.0.0.7:50051: connection refused"
};

Reach ReachOf(const admin::v1::Upstream& upstream, const SidecarFacts& facts) {
  const admin::v1::EndpointCounts& counts = upstream.endpoint_counts();
  Reach reach = {.reached = counts.ready(), .unreached = counts.failing(), .example = ""};
  for (const admin::v1::Endpoint& endpoint : upstream.endpoints()) {
    if (endpoint.failure().empty() || !reach.example.empty()) continue;
    reach.example = absl::StrCat(endpoint.address(), ": ", endpoint.failure());
  }
  for (const Dialled& dialled : facts.dialled) {
    if (dialled.upstream != upstream.name()) continue;
    ++(dialled.failure.empty() ? reach.reached : reach.unreached);
    if (dialled.failure.empty() || !reach.example.empty()) continue;
    reach.example = absl::StrCat(dialled.endpoint, ": ", dialled.failure);
  }
  return reach;
}

Finding Judge(const admin::v1::Upstream& upstream, const SidecarFacts& facts) {
  const Reach reach = ReachOf(upstream, facts);
  const uint32_t ejected = upstream.endpoint_counts().ejected();
  if (reach.unreached > 0) {
    const bool none = reach.reached == 0;
    return {none ? Severity::kFault : Severity::kWarning, "LD107",
            absl::StrCat(upstream.name(), ": ",
                         none ? std::string("no endpoint is reached")
                              : absl::StrCat(reach.unreached, " endpoints are not reached"),
                         reach.example.empty() ? "" : ": ", reach.example),
            kCure};
  }
  if (ejected > 0) {
    return {Severity::kWarning, "LD107",
            absl::StrCat(upstream.name(), ": ", ejected, " endpoints are ejected, since they fail"),
            "look for the cause at these instances"};
  }
  const std::string text = reach.reached == 0
                               ? "no endpoint was dialled yet, since no call has come"
                               : absl::StrCat(reach.reached, " endpoints are reached");
  return {Severity::kOk, "LD107", absl::StrCat(upstream.name(), ": ", text), ""};
}

}  // namespace

Findings CheckTargets(const SidecarFacts& facts) {
  Findings findings;
  for (const admin::v1::Upstream& upstream : facts.state.upstreams()) {
    findings.push_back(Judge(upstream, facts));
  }
  return findings;
}

}  // namespace levee::doctor
