// SPDX-License-Identifier: Apache-2.0
#include "fuzz/worker_run.h"

#include <sys/socket.h>
#include <sys/un.h>
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

namespace levee {
namespace {

constexpr int kBacklog = 128;
constexpr int kMostTurns = 200;
constexpr int kStillTurns = 2;  // A task that a turn posts to the next one may change something.

// The socket of the upstream, as long as the process lives.
class Upstream {
 public:
  static const Upstream& Get() {
    static const Upstream upstream;
    return upstream;
  }
  int fd() const { return fd_; }
  const std::string& path() const { return path_; }

 private:
  Upstream() : path_("/tmp/levee-fuzz-" + std::to_string(getpid()) + ".sock") {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    LEVEE_CHECK(path_.copy(address.sun_path, sizeof address.sun_path - 1) == path_.size());
    fd_ = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
    unlink(path_.c_str());
    LEVEE_CHECK(bind(fd_, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
    LEVEE_CHECK(listen(fd_, kBacklog) == 0);
    std::atexit([] { unlink(Get().path().c_str()); });
  }

  const std::string path_;
  int fd_ = -1;
};

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
constexpr std::array<std::string_view, WorkerRun::kShapes> kPolicies = {
    // Retries whatever can be retried.
    "{name: default, timeout: 5s, retry: {max_attempts: 3, codes: [UNAVAILABLE, UNKNOWN, INTERNAL],"
    " failures: [refused, connect, reset, timeout], http: [5xx, 429], attempt_timeout: 500ms,"
    " buffer: 256B, backoff: {initial: 10ms, max: 1s}, exhausted: mark,"
    " budget: {ratio: 10, floor: {per_second: 100, min_success: 0}}}}",
    // The defaults, with a budget that is soon empty.
    "{name: default, timeout: 5s, retry: {budget: {ratio: 0.5, floor: {per_second: 0}}}}",
    // Hedges.
    "{name: default, timeout: 5s, hedge: {delay: 10ms, max_attempts: 3, non_fatal: [UNAVAILABLE]},"
    " idempotency: {mode: always}, retry: {budget: {ratio: 10}}}",
    // Limits rates, commits at heads and adds a key.
    "{name: default, timeout: 5s, retry: {commit: headers, app_retries: count, exhausted: replace},"
    " idempotency: {key: {header: idempotency-key}}, rate_limit: [{name: r, rate: 5/s, burst: 2,"
    " key: [method, \"header:x-tenant\"], max_wait: 1s, max_keys: 2, adaptive: true}]}",
    // Guards an application.
    "{name: default, timeout: 5s, retry: {max_attempts: 1},"
    " guard: {concurrency: {limit: 2, streams: free}, queue: {max: 3}, load_report: true}}",
};

std::shared_ptr<const Snapshot> Parse(size_t shape) {
  std::string text(kCommon);
  text += shape == kGuarded ? kOfApplications : kOfCallers;
  text += "upstreams: [{name: shop, endpoints: [\"unix:" + Upstream::Get().path() +
          "\"], connect_timeout: 1s, keepalive: {interval: 10s, timeout: 1s}}]\n";
  text += "policies: [" + std::string(kPolicies[shape]) + "]\n";
  auto snapshot = ParseConfig("f", text);
  if (!snapshot.ok()) {
    std::fprintf(stderr, "%s\n", snapshot.status().ToString().c_str());
    std::abort();
  }
  return *std::move(snapshot);
}

const Hops kHops = {{Direction::kEgress, "2 levee-test"}, {Direction::kInbound, "2 levee-test-in"}};

// Parsing takes longer than most runs.
std::shared_ptr<const Snapshot> SnapshotOf(size_t shape) {
  static std::array<std::shared_ptr<const Snapshot>, WorkerRun::kShapes> snapshots;
  if (snapshots[shape] == nullptr) snapshots[shape] = Parse(shape);
  return snapshots[shape];
}

}  // namespace

WorkerRun::WorkerRun(size_t shape)
    : snapshot_(SnapshotOf(shape)),
      metrics_({.settings = {.upstreams = {"shop"}}}),
      budgets_(1, snapshot_->limits.destinations),
      shadow_budgets_(1, snapshot_->limits.destinations),
      throttles_(1, snapshot_->limits.destinations),
      replay_(snapshot_->limits.replay_bytes),
      shared_{metrics_, budgets_, shadow_budgets_, throttles_,        rate_limits_,
              replay_,  memory_,  recent_,         tls_destinations_, log_,
              guards_,  dedupes_, ties_,           capture_loops_,    kHops} {
  VirtualTime::Restart();
  worker_ = std::make_unique<Worker>(0, snapshot_, shared_);
  worker_->PostEndpoints("shop", snapshot_->endpoints.at("shop"));
  worker_->PostConfig({.snapshot = snapshot_}, [] {});
}

WorkerRun::~WorkerRun() {
  worker_->PostStop();
  worker_->loop().Run();
  worker_.reset();
  for (int fd = Accept(); fd >= 0; fd = Accept()) close(fd);
}

int WorkerRun::Connect() {
  std::array<int, 2> ends{};
  LEVEE_CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends.data()) == 0);
  ++connections_;
  worker_->PostConnection(
      net::ByteStream(ends[0]),
      {.listener = std::shared_ptr<const ListenerSpec>(snapshot_, snapshot_->listeners.data()),
       .destination = ""});
  return ends[1];
}

int WorkerRun::Accept() { return accept4(Upstream::Get().fd(), nullptr, nullptr, SOCK_NONBLOCK); }

void WorkerRun::Turn() {
  const uint64_t before = WorkDone();
  worker_->loop().Stop();
  worker_->loop().Run();
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
  LEVEE_CHECK(worker_->active_calls() == 0);
  LEVEE_CHECK(worker_->connections_ended() == connections_);
  LEVEE_CHECK(worker_->replay_bytes() == 0);
  worker_->PostView([](const std::vector<EndpointView>& views) {
    for (const EndpointView& view : views) LEVEE_CHECK(view.active == 0);
  });
  for (const auto& [upstream, view] : guards_.Views(worker_->loop().now())) {
    LEVEE_CHECK(view.in_flight == 0 && view.waiting == 0);
  }
  worker_->PostCountStreams();
  Turn();
  LEVEE_CHECK(worker_->open_streams() == 0);
}

}  // namespace levee
