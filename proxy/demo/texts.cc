// SPDX-License-Identifier: Apache-2.0
#include "demo/texts.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace levee::demo {

std::vector<std::string> Introduction(const Schedule& schedule, const Capacity& capacity,
                                      double failing) {
  return {
      absl::StrFormat("The same load and the same fault twice, %.0f s each; in the storm, %.1f s,",
                      absl::ToDoubleSeconds(schedule.length()),
                      absl::ToDoubleSeconds(schedule.storm)),
      absl::StrFormat("the service answers %.0f%% of its requests with UNAVAILABLE.",
                      100 * failing),
      "",
      "  plain clients  call the service. gRPC's own retryPolicy: 3 attempts on",
      "                 UNAVAILABLE, backoff from 25 ms, no retryThrottling",
      "  through Levee  the same clients without retries call the sidecar, which makes",
      "                 3 attempts with the same backoff, within a budget of 10%",
      absl::StrFormat("  the service    does %d requests at a time, %d ms each, in order, and also",
                      capacity.workers, absl::ToInt64Milliseconds(capacity.work)),
      absl::StrFormat("                 those that waited too long: UNAVAILABLE after %d ms",
                      absl::ToInt64Milliseconds(capacity.time_limit)),
      "",
  };
}

std::vector<std::string> GuardIntroduction(const Schedule& schedule, const Capacity& capacity,
                                           double calm_calls, double storm_calls) {
  return {
      absl::StrFormat("The same load twice, %.0f s each: %.0f calls/s, and in the storm, %.1f s,",
                      absl::ToDoubleSeconds(schedule.length()), calm_calls,
                      absl::ToDoubleSeconds(schedule.storm)),
      absl::StrFormat("%.0f calls/s: %.0f x what the service can do.", storm_calls,
                      storm_calls / capacity.PerSecond()),
      "",
      "  without guard  clients call the service. gRPC's own retryPolicy: 3 attempts",
      "                 on UNAVAILABLE and RESOURCE_EXHAUSTED, backoff from 25 ms",
      "  with guard     the same clients call Levee in front of the service, with a",
      "                 guard that has nothing configured",
      absl::StrFormat("  the service    does %d requests at a time, %d ms each, in order, and also",
                      capacity.workers, absl::ToInt64Milliseconds(capacity.work)),
      absl::StrFormat("                 those that waited too long: UNAVAILABLE after %d ms",
                      absl::ToInt64Milliseconds(capacity.time_limit)),
      "",
  };
}

std::vector<std::string> PageHint(const std::string& page) {
  return {absl::StrCat("Levee's page, to watch the second run: http://", page, "/"), ""};
}

std::vector<std::string> Invitation(const Addresses& addresses, const Suggestions& suggestions) {
  constexpr char kGetPrice[] = "levee.demo.v1.Shop/GetPrice";
  return {
      "",
      "Service and sidecar stay up for your own calls, until Ctrl-C.",
      "",
      absl::StrCat("  Levee takes calls on ", addresses.calls, " (gRPC without TLS)."),
      "  By curl, which shows the trailers:",
      "    printf '\\0\\0\\0\\0\\0' | curl -sv --http2-prior-knowledge --data-binary @- \\",
      "      -o /dev/null -H 'content-type: application/grpc' -H 'te: trailers' \\",
      absl::StrCat("      http://", addresses.calls, "/", kGetPrice),
      "  By grpcurl, where it is installed:",
      absl::StrCat("    grpcurl -plaintext -d '{\"item\": \"tea\"}' ", addresses.calls, " \\"),
      absl::StrCat("      ", kGetPrice),
      absl::StrCat("  ", suggestions.fault_effect, ", and call again; ", suggestions.fault,
                   "=0 ends that:"),
      absl::StrCat("    curl -X POST 'http://", addresses.faults, "/faults?", suggestions.fault,
                   "=0.5'"),
      absl::StrCat("  Watch Levee: http://", addresses.page, "/ in a browser, or"),
      absl::StrCat("    curl -s http://", addresses.metrics, "/metrics |"),
      absl::StrCat("      grep -E '", suggestions.metrics, "'"),
      absl::StrCat("  Its policy is ", addresses.config_file),
      "",
      "  To protect a service of your own from its callers, put a guard before it,",
      "  and send them to port 9450:",
      absl::StrCat("    ", addresses.program, " run --guard 0.0.0.0:9450 --to 127.0.0.1:50051"),
      "",
  };
}

}  // namespace levee::demo
