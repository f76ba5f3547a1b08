// SPDX-License-Identifier: Apache-2.0
// A sidecar with everything around it: metrics, access log, control ports, reload.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "admin/sidecar_view.h"
#include "admin/state_keeper.h"
#include "config/load.h"
#include "insight/recent_calls.h"
#include "log/event_log.h"
#include "net/line_writer.h"
#include "sidecar/config_reloader.h"
#include "sidecar/control_port.h"
#include "sidecar/control_ports.h"
#include "sidecar/identity_source.h"
#include "sidecar/listener_set.h"
#include "sidecar/span_exporter.h"
#include "telemetry/metrics.h"

namespace levee {

class Sidecar;

// Owns the configuration that is in effect and all that is open because of it. Each worker holds a
// snapshot as well, which it changes between two turns; nobody else does. It is the same one, or an
// earlier one from which this differs in nothing but endpoints.
//
// One thread creates, runs and destroys it.
class RunningSidecar final : private ConfigTaker {
 public:
  struct Options {
    ConfigInput config;
    int workers = 1;
    std::string version, commit;     // of this build
    OpenControlPort open_grpc;       // for admin.grpc_address
    MakeSpanExporter make_exporter;  // for otlp
    // The one of `config.svids`; nullptr: no configuration names a Workload API.
    std::shared_ptr<IdentitySource> identities = nullptr;
    const net::LineWriter* log_lines = nullptr;  // those of the log, if they may get lost
    // Called with "listening NAME ADDRESS" for every address that is bound, and for every address
    // that a reload binds anew. The thread that calls Run calls it, or the thread of a reload.
    std::function<void(const std::string& line)> announce;
  };

  // Opens every port that the configuration has. `checked` is the result of reading
  // `options.config`, and has no faults. `log` must outlive the sidecar.
  static absl::StatusOr<std::unique_ptr<RunningSidecar>> Open(Options options,
                                                              const CheckedConfig& checked,
                                                              EventLog& log);

  ~RunningSidecar();
  RunningSidecar(const RunningSidecar&) = delete;
  RunningSidecar& operator=(const RunningSidecar&) = delete;

  // Announces the addresses, and serves until it is told to stop.
  void Run();

 private:
  // The configuration in effect and what is open because of it, except the control ports.
  struct InUse {
    std::shared_ptr<const Snapshot> snapshot;
    std::shared_ptr<net::LineWriter> access_log;  // nullptr: there is none
    std::vector<ListenerSet::Bound> listeners;
  };

  class View;

  RunningSidecar(Options options, const CheckedConfig& checked, EventLog& log);

  absl::Status OpenAll(const CheckedConfig& checked);
  std::vector<std::string> Listeners();
  LostLines Lost();
  void Announce();
  void FollowIdentities();
  void KeepIdentities();

  // ConfigTaker: the reload, on its thread: prepare, commit, roll back.
  std::shared_ptr<const Snapshot> Running() const override;
  absl::Status TakeOver(const std::shared_ptr<const Snapshot>& snapshot) override;
  absl::Status Prepare(const std::shared_ptr<const Snapshot>& snapshot, InUse& next);
  void Commit(InUse next);
  void RollBack();

  const Options options_;
  EventLog& log_;
  Metrics metrics_;
  RecentCalls recent_calls_;
  const std::unique_ptr<SpanExporter> exporter_;
  const std::unique_ptr<SidecarView> view_;
  StateKeeper keeper_;

  // Only the thread of a reload changes `in_use_`, in Commit and under the mutex. So this thread
  // reads it without the mutex. The threads of the control ports read it under the mutex.
  mutable std::mutex in_use_mutex_;
  InUse in_use_;
  uint64_t lost_lines_ = 0;  // by the access logs before

  std::vector<std::string> announced_;
  std::unique_ptr<Sidecar> sidecar_;
  std::unique_ptr<ConfigReloader> reloader_;
  ControlPorts ports_;
};

}  // namespace levee
