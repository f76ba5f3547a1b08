// SPDX-License-Identifier: Apache-2.0
#include "demo/sidecar_config.h"

#include "absl/strings/str_replace.h"

namespace levee::demo {
namespace {

constexpr char kCallers[] =
    R"(# The sidecar of `levee demo`. What is not here has its default.
listeners:
  - name: egress
    address: 127.0.0.1:0  # 0: a port of the system's choice, printed at the start.
metrics:
  address: 127.0.0.1:0
admin:
  address: 127.0.0.1:0
upstreams:
  - name: shop
    endpoints: ["$SERVICE"]
routes:
  - upstream: shop
    policy: default
policies:
  - name: default
    retry:
      max_attempts: 3
      codes: [UNAVAILABLE]
      backoff: {initial: 25ms, multiplier: 2, max: 1s, jitter: full}
      budget: {ratio: 0.1, window: 10s}
drain:
  timeout: 1s
)";

constexpr char kGuard[] =
    R"(# The sidecar of `levee demo --guard`. What is not here has its default.
listeners:
  - name: ingress
    address: 127.0.0.1:0  # 0: a port of the system's choice, printed at the start.
    direction: inbound
metrics:
  address: 127.0.0.1:0
admin:
  address: 127.0.0.1:0
upstreams:
  - name: shop
    endpoints: ["$SERVICE"]
routes:
  - match: {listener: ingress}
    upstream: shop
    policy: protect
policies:
  - name: protect
    guard: {}
drain:
  timeout: 1s
)";

std::string For(const char* config, const std::string& service_address) {
  return absl::StrReplaceAll(config, {{"$SERVICE", service_address}});
}

}  // namespace

std::string CallersConfig(const std::string& service_address) {
  return For(kCallers, service_address);
}

std::string GuardConfig(const std::string& service_address) { return For(kGuard, service_address); }

}  // namespace levee::demo
