// SPDX-License-Identifier: Apache-2.0
// Watches the configuration's files while the sidecar runs, and reloads them when they change.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "config/load.h"
#include "log/event_log.h"
#include "net/event_loop.h"
#include "net/file_watcher.h"
#include "settings/config_status.h"
#include "telemetry/metrics.h"

namespace levee {

// Takes over what a reload has read. The interface inverts a dependency: the sidecar as a whole
// owns its reloader.
class ConfigTaker {
 public:
  // The configuration in effect; never nullptr. Any thread.
  virtual std::shared_ptr<const Snapshot> Running() const = 0;

  // Takes over a configuration. After an error nothing of it is in effect. It is called on the
  // reload's thread, one call at a time. It may wait for the loop. If the loop has ended, it must
  // not wait, but return Cancelled; this is no refusal, and no other reload begins.
  virtual absl::Status TakeOver(const std::shared_ptr<const Snapshot>& snapshot) = 0;

 protected:
  ~ConfigTaker() = default;
};

// Reads the files again when they change, or when SIGHUP asks for it, and has the sidecar take the
// new configuration over. A configuration that has a fault or that cannot be taken over changes
// nothing: it is counted, logged and shown in the status. An empty file is refused in the same way,
// although it means the defaults when the sidecar starts: most programs that write a file empty it
// first. If the files change and their meaning does not, there is no reload. Standard input keeps
// the text that it had at the start.
//
// What Workload APIs give is no part of the files: it is taken into the configuration in effect,
// whatever the files are like meanwhile, and counts as a rotation and not as a reload. A reload
// that finds something new of them takes it too, and counts as both.
//
// Reading a large file takes longer than a call may wait. So one thread does all of a reload. It is
// started when it is needed, and ends when nothing is left to do.
class ConfigReloader {
 public:
  // `running` has no faults. `loop` watches signals and files, and does not run yet. It and `taker`
  // outlive the reloader. From now on SIGHUP does not end the process.
  ConfigReloader(net::EventLoop& loop, ConfigInput input, const CheckedConfig& running,
                 Metrics& metrics, EventLog& log, ConfigTaker& taker);
  ~ConfigReloader();
  ConfigReloader(const ConfigReloader&) = delete;
  ConfigReloader& operator=(const ConfigReloader&) = delete;

  // Must be called when the loop does not run any more. Waits for the reload that is under way.
  // After that no other reload begins and the taker is not called. A second call does nothing.
  void Stop();

  // A Workload API has given something new. Any thread.
  void OnNewSvids();

  // Any thread.
  ConfigStatus status() const;

 private:
  // Files that are refused are read again some times, since what is wrong may end without a change
  // of theirs: a certificate begins a moment later by this clock, a port becomes free.
  static constexpr int kReadAgain = 5;
  static constexpr absl::Duration kReadAgainAfter = absl::Seconds(1);

  // Why the files are read again.
  enum class Reason { kChange, kSignal };

  struct Work {
    bool svids = false;           // to take what Workload APIs have given
    std::optional<Reason> files;  // to read the files again

    bool any() const { return svids || files.has_value(); }
  };

  // On the loop's thread.
  void Ask(const Work& work);
  void Watch(const std::vector<std::string>& reads);

  // On the reload's thread.
  void Run();
  Work Next();
  void Rotate();
  void Reload(Reason reason);
  void ReadAgain(bool same);
  absl::Status Take(const CheckedConfig& checked, const Snapshot& before);
  absl::Status TakeOver(const std::shared_ptr<const Snapshot>& snapshot);
  void WatchAlso(const std::vector<std::string>& reads);
  void Succeed(const CheckedConfig& checked);
  void Refuse(std::vector<std::string> faults);

  net::EventLoop& loop_;
  const ConfigInput input_;
  Metrics& metrics_;
  EventLog& log_;
  ConfigTaker& taker_;
  net::FileWatcher watcher_;        // of the loop's thread
  std::vector<std::string> reads_;  // of the reload's thread: files that the configuration names
  std::function<std::shared_ptr<const Snapshot>()> renew_;  // likewise; of the one in effect
  int read_again_ = 0;                                      // likewise; for the latest faults
  std::thread thread_;

  mutable std::mutex mutex_;
  Work asked_;
  bool busy_ = false;  // the thread runs and will read `asked_` once more
  bool stopped_ = false;
  ConfigStatus status_;  // without the snapshot
};

}  // namespace levee
