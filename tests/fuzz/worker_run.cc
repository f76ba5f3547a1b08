// SPDX-License-Identifier: Apache-2.0
#include "fuzz/worker_run.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "base/check.h"
#include "config/load.h"
#include "fuzz/work_count.h"
#include "virtual/virtual_time.h"
#include "virtual/virtual_worker.h"

namespace levee {
namespace {

constexpr int kMostTurns = 200;
constexpr int kStillTurns = 2;  // A task that a turn posts to the next one may change something.

// The upstream's, as long as the process lives.
const VirtualEndpoint& UpstreamEnd() {
  static const VirtualEndpoint endpoint;
  return endpoint;
}

// Numbers are small, so that short inputs meet the limits. No CONNECT: whatever an input names
// would be dialled.
constexpr std::string_view kCommon = R"(
limits: {replay_bytes: 16KiB, streams_per_connection: 6, metadata_bytes: 4KiB, metadata_fields: 24,
         method_labels: 2, destinations: 2}
)";

constexpr std::string_view kOfCallers = R"(
listeners: [{name: egress, address: "127.0.0.1:0", capture: [h2c]}]
routes: [{match: {authority: "shop:*"}, upstream: shop}]
)";
constexpr std::string_view kOfApplications = R"(
listeners: [{name: ingress, address: "127.0.0.1:0", direction: inbound}]
routes: [{match: {listener: ingress, authority: "shop:*"}, upstream: shop}]
tie: {carry: [mark, priority, deadline, cancel], max_traces: 8}
)";

constexpr size_t kGuarded = 4;
// An upstream may make a stream of a call by how it answers, so streams have a time, too.
constexpr std::string_view kOfAllPolicies = "{name: default, timeout: 5s, stream: {timeout: 5s}, ";
constexpr std::array<std::string_view, WorkerRun::kShapes> kPolicies = {
    // Retries whatever can be retried.
    "retry: {max_attempts: 3, codes: [UNAVAILABLE, UNKNOWN, INTERNAL],"
    " failures: [refused, connect, reset, timeout], http: [5xx, 429], attempt_timeout: 500ms,"
    " buffer: 256B, backoff: {initial: 10ms, max: 1s}, exhausted: mark,"
    " budget: {ratio: 10, floor: {per_second: 100, min_success: 0}}}}",
    // The defaults, with a budget that is soon empty.
    "retry: {budget: {ratio: 0.5, floor: {per_second: 0}}}}",
    // Hedges.
    "hedge: {delay: 10ms, max_attempts: 3, non_fatal: [UNAVAILABLE]},"
    " idempotency: {mode: always}, retry: {budget: {ratio: 10}}}",
    // Limits rates, commits at heads and adds a key.
    "retry: {commit: headers, app_retries: count, exhausted: replace},"
    " idempotency: {key: {header: idempotency-key}}, rate_limit: [{name: r, rate: 5/s, burst: 2,"
    " key: [method, \"header:x-tenant\"], max_wait: 1s, max_keys: 2, adaptive: true}]}",
    // Guards an application.
    "retry: {max_attempts: 1},"
    " guard: {concurrency: {limit: 2, streams: free}, queue: {max: 3}, load_report: true}}",
};

std::shared_ptr<const Snapshot> Parse(size_t shape) {
  std::string text(kCommon);
  text += shape == kGuarded ? kOfApplications : kOfCallers;
  text += "upstreams: [{name: shop, endpoints: [\"unix:" + UpstreamEnd().path() +
          "\"], connect_timeout: 1s, keepalive: {interval: 10s, timeout: 1s}}]\n";
  text += "policies: [";
  text += kOfAllPolicies;
  text += kPolicies[shape];
  text += "]\n";
  auto snapshot = ParseConfig("f", text);
  if (!snapshot.ok()) {
    std::fprintf(stderr, "%s\n", snapshot.status().ToString().c_str());
    std::abort();
  }
  return *std::move(snapshot);
}

// Parsing takes longer than most runs.
std::shared_ptr<const Snapshot> SnapshotOf(size_t shape) {
  static std::array<std::shared_ptr<const Snapshot>, WorkerRun::kShapes> snapshots;
  if (snapshots[shape] == nullptr) snapshots[shape] = Parse(shape);
  return snapshots[shape];
}

std::unique_ptr<VirtualWorker> NewWorker(size_t shape) {
  VirtualTime::Restart();
  const std::shared_ptr<const Snapshot> snapshot = SnapshotOf(shape);
  return std::make_unique<VirtualWorker>(snapshot, "shop", snapshot->endpoints.at("shop"));
}

}  // namespace

WorkerRun::WorkerRun(size_t shape) : virtual_(NewWorker(shape)) {}

WorkerRun::~WorkerRun() {
  virtual_.reset();
  for (int fd = Accept(); fd >= 0; fd = Accept()) close(fd);
}

int WorkerRun::Connect() {
  ++connections_;
  return virtual_->Connect();
}

int WorkerRun::Accept() { return UpstreamEnd().Accept(); }

void WorkerRun::Turn() {
  const uint64_t before = WorkDone();
  virtual_->Turn();
  work_ += WorkDone() - before;
}

void WorkerRun::Settle(const std::function<bool()>& pump) {
  int still = 0;
  for (int turn = 0; turn < kMostTurns && still < kStillTurns; ++turn) {
    still = pump() ? 0 : still + 1;
    Turn();
  }
}

void WorkerRun::Advance(absl::Duration span) { VirtualTime::Advance(span); }

void WorkerRun::CheckNothingLeft() {
  LEVEE_CHECK(virtual_->worker().active_calls() == 0);
  LEVEE_CHECK(virtual_->worker().connections_ended() == connections_);
  LEVEE_CHECK(virtual_->worker().replay_bytes() == 0);
  virtual_->worker().PostView([](const std::vector<EndpointView>& views) {
    for (const EndpointView& view : views) LEVEE_CHECK(view.active == 0);
  });
  for (const auto& [upstream, view] : virtual_->guards().Views(virtual_->worker().loop().now())) {
    LEVEE_CHECK(view.in_flight == 0 && view.waiting == 0);
  }
  virtual_->worker().PostCountStreams();
  Turn();
  LEVEE_CHECK(virtual_->worker().open_streams() == 0);
}

}  // namespace levee
