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
      absl::StrFormat("the service answers %.0f%% of its requests with UNAVAILABLE.", 100 * failing),
      "",
      "  plain clients  gRPC's own retryPolicy: 3 attempts on UNAVAILABLE, backoff from",
      "                 25 ms, no retryThrottling; straight to the service",
      "  through Levee  the same clients without retries, through the sidecar: 3 attempts,",
      "                 the same backoff, a retry budget of 10%",
      absl::StrFormat("  the service    works on %d requests at a time, %d ms each, in order, also on",
                      capacity.workers, absl::ToInt64Milliseconds(capacity.work)),
      absl::StrFormat("                 those that waited too long: after %d ms it answers UNAVAILABLE",
                      absl::ToInt64Milliseconds(capacity.time_limit)),
      "",
  };
}

std::vector<std::string> Invitation(const Addresses& addresses) {
  constexpr char kGetPrice[] = "levee.demo.v1.Shop/GetPrice";
  return {
      "",
      "Service and sidecar stay up for your own calls until Ctrl-C.",
      "",
      absl::StrCat("  calls through Levee  ", addresses.calls, " (gRPC without TLS; ", kGetPrice,
                   ")"),
      absl::StrCat("    grpcurl -plaintext -d '{\"item\": \"tea\"}' ", addresses.calls, " ",
                   kGetPrice),
      "    or, with nothing but curl, an empty message and the trailers:",
      absl::StrCat("    printf '\\0\\0\\0\\0\\0' | curl -sv --http2-prior-knowledge -o /dev/null"),
      absl::StrCat("      -H 'content-type: application/grpc' -H 'te: trailers' --data-binary @-"),
      absl::StrCat("      http://", addresses.calls, "/", kGetPrice),
      absl::StrCat("  break the service    grpcurl -plaintext -d '{\"failing\": 0.5}' ",
                   addresses.service, " levee.demo.v1.Faults/Set"),
      absl::StrCat("  watch Levee          curl -s http://", addresses.metrics,
                   "/metrics | grep levee_retry_budget"),
      absl::StrCat("  its policy           ", addresses.config_file),
      "",
  };
}

}  // namespace levee::demo
