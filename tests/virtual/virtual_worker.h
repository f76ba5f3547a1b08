// SPDX-License-Identifier: Apache-2.0
// A whole worker on virtual time: its real loop, sockets and sessions, turned by whoever runs it.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "absl/time/time.h"
#include "base/memory_account.h"
#include "call/policy_tables.h"
#include "call/replay_memory.h"
#include "insight/recent_calls.h"
#include "log/event_log.h"
#include "server/worker.h"
#include "settings/snapshot.h"
#include "telemetry/metrics.h"
#include "virtual/kept_spans.h"
#include "virtual/virtual_time.h"

namespace levee {

// The end of an endpoint: a Unix socket that listens as long as this lives.
class VirtualEndpoint {
 public:
  VirtualEndpoint();
  ~VirtualEndpoint();
  VirtualEndpoint(const VirtualEndpoint&) = delete;
  VirtualEndpoint& operator=(const VirtualEndpoint&) = delete;

  const std::string& path() const { return path_; }

  // The other end of a connection that the worker has opened; -1: there is none. The descriptor is
  // the taker's.
  int Accept() const;

 private:
  const std::string path_;
  const int fd_;
};

// One lives at a time.
class VirtualWorker {
 public:
  // It begins at VirtualTime::now(). The calls of `upstream`, the only one of `snapshot`, go to
  // `endpoints`.
  VirtualWorker(std::shared_ptr<const Snapshot> snapshot, const std::string& upstream,
                std::shared_ptr<const EndpointList> endpoints);

  // Stops the worker.
  ~VirtualWorker();
  VirtualWorker(const VirtualWorker&) = delete;
  VirtualWorker& operator=(const VirtualWorker&) = delete;

  // The caller's end of a new connection to a listener of the snapshot; the descriptor is the
  // taker's.
  int Connect(size_t listener = 0);

  // One turn of the worker's loop.
  void Turn();

  // The worker takes its configuration once more, as a reload does. One turn.
  void ApplyAgain();

  // How long nothing is due.
  absl::Duration Idle();

  // Breaks a rule of each call that is under way: its host is told of an attempt that it never
  // made.
  void BreakCalls();
  uint64_t broken_calls() { return metrics_.Worker(0).broken_calls.Read(); }

  Worker& worker() { return *worker_; }
  const RecentCalls& recent() const { return recent_; }
  const KeptSpans& spans() const { return spans_; }
  GuardTable& guards() { return tables_.guards; }
  MemoryAccount& memory() { return memory_; }
  size_t budgets() const { return tables_.budgets.Views(VirtualTime::now()).size(); }
  uint64_t hits(Limit limit) { return metrics_.Worker(0).limit_hits[limit].Read(); }

 private:
  const std::shared_ptr<const Snapshot> snapshot_;
  Metrics metrics_;
  RecentCalls recent_;
  EventLog log_;
  ReplayMemory replay_;
  MemoryAccount memory_{int64_t{1} << 40};
  TlsDestinations tls_destinations_;
  CaptureLoops capture_loops_{log_};
  KeptSpans spans_;
  MethodKinds methods_;
  PolicyTables tables_;
  Ties ties_{1, [this](TraceNumber trace) { worker_->PostGone(trace); }};
  Shared shared_;
  std::unique_ptr<Worker> worker_;
};

}  // namespace levee
