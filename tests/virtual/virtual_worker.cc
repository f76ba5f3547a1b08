// SPDX-License-Identifier: Apache-2.0
#include "virtual/virtual_worker.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <utility>

#include "absl/strings/str_format.h"
#include "base/check.h"
#include "virtual/virtual_time.h"

namespace levee {
namespace {

constexpr int kBacklog = 128;

const Hops kHops = {{Direction::kEgress, "2 levee-test"}, {Direction::kInbound, "2 levee-test-in"}};

// Each socket of the process has another path. All are as long in every run, so that a run makes
// the same steps as another one.
std::string NewPath() {
  static int sockets = 0;
  return absl::StrFormat("/tmp/levee-virtual-%07d-%02d.sock", getpid(), sockets++);
}

}  // namespace

VirtualEndpoint::VirtualEndpoint()
    : path_(NewPath()), fd_(socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0)) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  LEVEE_CHECK(path_.copy(address.sun_path, sizeof address.sun_path - 1) == path_.size());
  unlink(path_.c_str());
  LEVEE_CHECK(bind(fd_, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
  LEVEE_CHECK(listen(fd_, kBacklog) == 0);
}

VirtualEndpoint::~VirtualEndpoint() {
  close(fd_);
  unlink(path_.c_str());
}

int VirtualEndpoint::Accept() const { return accept4(fd_, nullptr, nullptr, SOCK_NONBLOCK); }

VirtualWorker::VirtualWorker(std::shared_ptr<const Snapshot> snapshot, const std::string& upstream,
                             std::shared_ptr<const EndpointList> endpoints)
    : snapshot_(std::move(snapshot)),
      metrics_({.settings = {.upstreams = {upstream}}}),
      replay_(snapshot_->limits.replay_bytes),
      tables_({.max_authorities = snapshot_->limits.destinations,
               .wake_for_guards = [this](int) { worker_->PostLookAtGuards(); },
               .wake_for_keys = [this](int) { worker_->PostLookAtDedupes(); }}),
      shared_{metrics_, tables_,  replay_, memory_,        recent_, tls_destinations_,
              log_,     methods_, ties_,   capture_loops_, spans_,  [](const auto&, bool) {},
              kHops} {
  worker_ = std::make_unique<Worker>(0, snapshot_, shared_);
  worker_->PostEndpoints(upstream, std::move(endpoints));
  worker_->PostConfig({.snapshot = snapshot_}, [] {});
}

VirtualWorker::~VirtualWorker() {
  worker_->PostStop();
  worker_->loop().Run();
  worker_.reset();
}

int VirtualWorker::Connect(size_t listener) {
  std::array<int, 2> ends{};
  LEVEE_CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends.data()) == 0);
  worker_->PostConnection(net::ByteStream(ends[0]),
                          {.listener = std::shared_ptr<const ListenerSpec>(
                               snapshot_, &snapshot_->listeners.at(listener)),
                           .destination = ""});
  return ends[1];
}

void VirtualWorker::Turn() {
  worker_->loop().Stop();
  worker_->loop().Run();
}

void VirtualWorker::ApplyAgain() {
  worker_->PostConfig({.snapshot = snapshot_}, [] {});
  Turn();
}

absl::Duration VirtualWorker::Idle() { return worker_->wheel().NextWakeup() - VirtualTime::now(); }

void VirtualWorker::BreakCalls() {
  constexpr AttemptId kNeverMade = 1000;
  worker_->calls_.ForEach([](RpcStream& call) { call.OnAttemptSent(kNeverMade, 0); });
}

}  // namespace levee
