#include "sidecar/config_reloader.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>

#include "absl/strings/str_join.h"
#include "net/process_memory.h"
#include "net/terminal.h"

namespace levee {
namespace {

std::vector<std::string> Lines(const std::vector<Fault>& faults) {
  std::vector<std::string> lines;
  for (const Fault& fault : faults) lines.push_back(FormatFault(fault));
  return lines;
}

// What is wrong with files that have no byte.
std::vector<std::string> EmptyFaults(const std::vector<std::string>& files) {
  std::vector<std::string> faults;
  for (const std::string& file : files) {
    faults.push_back(file + ": is empty; for the defaults say {}");
  }
  return faults;
}

}  // namespace

ConfigReloader::ConfigReloader(net::EventLoop& loop, ConfigInput input,
                               const CheckedConfig& running, Metrics& metrics, Hooks hooks)
    : loop_(loop),
      input_(std::move(input)),
      metrics_(metrics),
      hooks_(std::move(hooks)),
      watcher_(loop_, [this] { Ask(Reason::kChange); }),
      reads_(running.reads) {
  status_.snapshot = running.snapshot;
  status_.loaded = net::WallClock();
  status_.files = input_.files;
  status_.warnings = Lines(running.warnings);
  loop_.OnSignal(net::kHangupSignal, [this] { Ask(Reason::kSignal); });
  Watch();
  // What changed before it was watched, once whoever changes it has finished.
  loop_.Post([this] { watcher_.Expect(); });
}

ConfigReloader::~ConfigReloader() { Stop(); }

void ConfigReloader::Stop() {
  {
    const std::lock_guard lock(outcome_->mutex);
    outcome_->stopped = true;
    outcome_->changed.notify_one();
  }
  if (thread_.joinable()) thread_.join();
}

ConfigStatus ConfigReloader::status() const {
  const std::lock_guard lock(mutex_);
  return status_;
}

void ConfigReloader::Watch() {
  std::vector<std::string> files = input_.files;
  files.insert(files.end(), reads_.begin(), reads_.end());
  for (const std::string& fault : watcher_.Watch(std::move(files))) {
    spdlog::warn("{}; SIGHUP has the configuration read again", fault);
  }
}

void ConfigReloader::Ask(Reason reason) {
  if (busy_) {
    again_ = std::max(again_.value_or(reason), reason);
    return;
  }
  busy_ = true;
  if (thread_.joinable()) thread_.join();  // It has said that it is finished.
  thread_ = std::thread([this, reason] { Reload(reason); });
}

void ConfigReloader::Finished(std::vector<std::string> reads) {
  busy_ = false;
  if (reads != reads_) {
    // What is watched only from now on may have changed since it was read.
    reads_ = std::move(reads);
    Watch();
    watcher_.Expect();
  }
  if (const auto again = std::exchange(again_, std::nullopt)) Ask(*again);
}

void ConfigReloader::Reload(Reason reason) {
  CheckedConfig checked = CheckConfig(input_);
  const ConfigStatus before = status();
  const auto refuse = [&](std::vector<std::string> faults) {
    // What was refused and still says the same is told once.
    if (reason == Reason::kSignal || faults != before.faults) Refuse(std::move(faults));
  };
  if (checked.snapshot == nullptr) {
    refuse(Lines(checked.faults));
  } else if (checked.snapshot->sha256 == before.snapshot->sha256) {
    // Files that are as they were before a fault end the fault.
    checked.snapshot = before.snapshot;
    if (reason == Reason::kSignal || !before.faults.empty()) Succeed(checked);
  } else if (!checked.empty.empty()) {
    refuse(EmptyFaults(checked.empty));
  } else {
    TakeOver(checked);
  }
  // Reading runs through much code that serving calls does not need.
  net::ReleaseCodePages();
  loop_.Post([this, reads = std::move(checked.reads)]() mutable { Finished(std::move(reads)); });
}

void ConfigReloader::TakeOver(const CheckedConfig& checked) {
  {
    const std::lock_guard lock(outcome_->mutex);
    outcome_->status.reset();
  }
  hooks_.take_over(checked.snapshot, [outcome = outcome_](absl::Status status) {
    const std::lock_guard lock(outcome->mutex);
    outcome->status = std::move(status);
    outcome->changed.notify_one();
  });
  std::unique_lock lock(outcome_->mutex);
  outcome_->changed.wait(lock, [&] { return outcome_->status.has_value() || outcome_->stopped; });
  if (!outcome_->status.has_value()) return;  // Everything ends.
  const absl::Status status = *outcome_->status;
  lock.unlock();
  hooks_.settle(status.ok());
  if (status.ok()) {
    Succeed(checked);
  } else {
    Refuse({std::string(status.message())});
  }
}

void ConfigReloader::Succeed(const CheckedConfig& checked) {
  const absl::Time now = net::WallClock();
  metrics_.ConfigReloaded(checked.snapshot->sha256, now);
  const std::vector<std::string> warnings = Lines(checked.warnings);
  {
    const std::lock_guard lock(mutex_);
    status_.snapshot = checked.snapshot;
    status_.loaded = status_.last_attempt = now;
    status_.warnings = warnings;
    status_.faults.clear();
    ++status_.reloads;
  }
  spdlog::info("configuration {} is in effect", checked.snapshot->sha256.substr(0, 12));
  for (const std::string& warning : warnings) spdlog::warn("{}", warning);
}

void ConfigReloader::Refuse(std::vector<std::string> faults) {
  metrics_.ConfigRefused();
  spdlog::error("the new configuration is refused, the running one stays:\n{}",
                absl::StrJoin(faults, "\n"));
  const std::lock_guard lock(mutex_);
  status_.last_attempt = net::WallClock();
  status_.faults = std::move(faults);
  ++status_.refused;
}

}  // namespace levee
