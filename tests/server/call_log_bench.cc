// SPDX-License-Identifier: Apache-2.0
// The cost of logging a refused call, for the worker that refused it.
#include <memory>
#include <string>

#include "benchmark/benchmark.h"
#include "server/call_log.h"

namespace levee {
namespace {

ConnectionOrigin Origin() {
  ListenerSpec listener;
  listener.name = "egress";
  return {.listener = std::make_shared<const ListenerSpec>(listener), .destination = {}};
}

// The head that a gRPC client sends.
void FillHead(Metadata& head) {
  head.Add(":method", "POST");
  head.Add(":scheme", "http");
  head.Add(":path", "/shop.warehouse.v1.Inventory/Reserve");
  head.Add(":authority", "inventory.shop.svc.cluster.local:8080");
  head.Add("te", "trailers");
  head.Add("content-type", "application/grpc");
  head.Add("user-agent", "grpc-c++/1.51.1 grpc-c/29.0.0 (linux; chttp2)");
  head.Add("grpc-accept-encoding", "identity, deflate, gzip");
  head.Add("grpc-timeout", "1S");
  head.Add("traceparent", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01");
}

RecentCalls& SharedCalls() {
  static RecentCalls calls;
  return calls;
}

// A storm: each worker (a thread) ends a call of one attempt every 20 us, and its retry is refused.
void BM_RefusedCall(benchmark::State& state) {
  Random random(1);
  CallLog log(SharedCalls(), random);
  const AccessLogFilter filter;
  const ConnectionOrigin origin = Origin();
  Metadata head;
  FillHead(head);
  CallRecord record;
  record.code = StatusCode::kResourceExhausted;
  record.refused = RefusalReason::kBudget;
  record.attempts.push_back({.endpoint = 1, .code = StatusCode::kUnavailable});
  const std::string message = "overloaded, do not retry: the retry budget is used up";
  for ([[maybe_unused]] auto _ : state) {
    record.end = record.end + absl::Microseconds(20);
    const CallLog::Choice choice = log.Choose(filter, record);
    if (!choice) continue;
    AccessLogFacts facts = FactsOf(origin, head);
    facts.upstream = "inventory";
    facts.message = message;
    log.Write(choice, facts, record, [](int64_t) { return std::string("10.17.204.13:8080"); });
  }
}
BENCHMARK(BM_RefusedCall)->Threads(1)->Threads(2)->UseRealTime();

}  // namespace
}  // namespace levee
