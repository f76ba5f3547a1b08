// SPDX-License-Identifier: Apache-2.0
#include "ledger/sidecar_config.h"

#include <string_view>

namespace levee::ledger {
namespace {

// With the attempts that AllowanceOf says.
constexpr std::string_view kPolicies = R"(
policies:
  - name: plain
    timeout: 5s
    retry:
      max_attempts: 3
      backoff: {initial: 1ms, max: @MAX@}
      budget: {ratio: 0.2, window: 10s, floor: {per_second: 1}}
  - name: repeat
    timeout: 5s
    idempotency: {mode: always}
    retry:
      max_attempts: 4
      codes: [UNAVAILABLE, INTERNAL]
      http: [5xx]
      failures: [refused, connect, reset, timeout]
      attempt_timeout: 300ms
      backoff: {initial: 1ms, max: @MAX@}
      budget: {ratio: 100, floor: {per_second: 1000000}}
  - name: never
    timeout: 5s
    idempotency: {mode: never}
    retry:
      max_attempts: 3
      failures: [refused, connect, reset, timeout]
      backoff: {initial: 1ms, max: @MAX@}
      budget: {ratio: 100, floor: {per_second: 1000000}}
  - name: single
    timeout: 5s
    retry: {max_attempts: 1, budget: {ratio: 100, floor: {per_second: 1000000}}}
  - name: small
    timeout: 5s
    idempotency: {mode: always}
    retry:
      max_attempts: 4
      buffer: 1KiB
      backoff: {initial: 1ms, max: @MAX@}
      budget: {ratio: 100, floor: {per_second: 1000000}}
  - name: hedged
    timeout: 5s
    idempotency: {mode: always}
    retry: {max_attempts: 1, budget: {ratio: 100, floor: {per_second: 1000000}}}
    hedge: {delay: 10ms, max_attempts: 2}
  - name: waiting
    timeout: 5s
    idempotency: {mode: always}
    retry:
      max_attempts: 1
      exhausted: keep
      budget: {ratio: 1, wait: 200ms, floor: {per_second: 0}, burst: {least: 1}}
    hedge: {delay: 0s, max_attempts: 4}
)";

constexpr std::string_view kRoutes = R"(
routes:
  - {match: {method: /ledger.Ledger/Plain}, upstream: ledger, policy: plain}
  - {match: {method: /ledger.Ledger/Repeat}, upstream: ledger, policy: repeat}
  - {match: {method: /ledger.Ledger/Never}, upstream: ledger, policy: never}
  - {match: {method: /ledger.Ledger/Single}, upstream: ledger, policy: single}
  - {match: {method: /ledger.Ledger/Small}, upstream: ledger, policy: small}
  - {match: {method: /ledger.Ledger/Hedged}, upstream: ledger, policy: hedged}
  - {match: {method: /ledger.Ledger/Waiting}, upstream: ledger, policy: waiting}
)";

void Replace(std::string& text, std::string_view from, std::string_view to) {
  for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at)) {
    text.replace(at, from.size(), to);
  }
}

}  // namespace

std::string SidecarConfig(const std::vector<std::string>& endpoints, const std::string& access_log,
                          int generation) {
  const bool odd = generation % 2 == 1;
  std::string text =
      "listeners: [{name: egress, address: \"127.0.0.1:0\"}]\n"
      "metrics: {address: \"127.0.0.1:0\"}\n"
      "admin: {address: none}\n"
      "upstreams:\n"
      "  - name: ledger\n"
      "    connect_timeout: 500ms\n"
      "    reconnect: {initial: 5ms, max: 50ms}\n"
      "    keepalive: {interval: 300ms, timeout: 300ms}\n"
      "    endpoints:\n";
  for (size_t i = odd ? 1 : 0; i < endpoints.size(); ++i) {
    text += "      - \"" + endpoints[i] + "\"\n";
  }
  text += kRoutes;
  text += kPolicies;
  Replace(text, "@MAX@", odd ? "5ms" : "8ms");
  return text + "access_log: {path: " + access_log + ", when: [all]}\ndrain: {timeout: 10s}\n";
}

}  // namespace levee::ledger
