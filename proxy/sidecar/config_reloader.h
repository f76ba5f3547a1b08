// Follows the configuration's files while the sidecar runs.
#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "config/config_status.h"
#include "config/load.h"
#include "net/event_loop.h"
#include "net/file_watcher.h"
#include "telemetry/metrics.h"

namespace levee {

// Reads the files again when they change or when SIGHUP asks for it, and has the sidecar take over
// what they say. A configuration with a fault, and one that cannot be taken over, changes nothing:
// it is counted, logged and shown in the status. So does a file without a byte, though at the start
// it means the defaults: most writers empty a file before they fill it. Files that change and still
// say the same are no reload.
//
// Reading a large file takes longer than a call may be held up, so a thread does it that lives only
// for one reload.
class ConfigReloader {
 public:
  using Done = std::function<void(absl::Status)>;

  // Both are called on the thread of a reload, never two at a time.
  struct Hooks {
    // Takes over all of a configuration or nothing, then calls `done` once, on any thread.
    std::function<void(std::shared_ptr<const Snapshot>, Done done)> take_over;

    // Follows each `done`: what was in use before may go, or what was made for the configuration
    // that was not taken over.
    std::function<void(bool taken)> settle;
  };

  // `running` has no faults. Signals and files are watched by `loop`, which outlives the reloader
  // and does not run yet. From now on SIGHUP does not end the process.
  ConfigReloader(net::EventLoop& loop, ConfigInput input, const CheckedConfig& running,
                 Metrics& metrics, Hooks hooks);
  ~ConfigReloader();
  ConfigReloader(const ConfigReloader&) = delete;
  ConfigReloader& operator=(const ConfigReloader&) = delete;

  // The loop does not run any more: ends a reload that waits for it. Afterwards no hook is called,
  // and a `done` that comes late does nothing. Does nothing the second time.
  void Stop();

  // Any thread.
  ConfigStatus status() const;

 private:
  enum class Reason { kChange, kSignal };

  // What a `done` leaves; outlives the reloader if it comes late.
  struct Outcome {
    std::mutex mutex;
    std::condition_variable changed;
    std::optional<absl::Status> status;
    bool stopped = false;
  };

  // On the loop's thread.
  void Ask(Reason reason);
  void Finished(std::vector<std::string> reads);
  void Watch();

  // On the thread of a reload.
  void Reload(Reason reason);
  void TakeOver(const CheckedConfig& checked);
  void Succeed(const CheckedConfig& checked);
  void Refuse(std::vector<std::string> faults);

  net::EventLoop& loop_;
  const ConfigInput input_;
  Metrics& metrics_;
  const Hooks hooks_;
  const std::shared_ptr<Outcome> outcome_ = std::make_shared<Outcome>();

  // Of the loop's thread.
  net::FileWatcher watcher_;
  std::vector<std::string> reads_;  // files that the configuration names
  bool busy_ = false;               // a reload is under way
  std::optional<Reason> again_;     // to reload when it is done
  std::thread thread_;

  mutable std::mutex mutex_;
  ConfigStatus status_;
};

}  // namespace levee
