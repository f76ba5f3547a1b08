// SPDX-License-Identifier: Apache-2.0
#include "sidecar/config_reloader.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "net/process_memory.h"
#include "net/terminal.h"

namespace levee {
namespace {

std::vector<std::string> Lines(const std::vector<Fault>& faults) {
  std::vector<std::string> lines;
  for (const Fault& fault : faults) lines.push_back(FormatFault(fault));
  return lines;
}

// Returns a fault for each of the files, which are empty.
std::vector<std::string> EmptyFaults(const std::vector<std::string>& files) {
  std::vector<std::string> faults;
  for (const std::string& file : files) {
    faults.push_back(file + ": is empty; for the defaults say {}");
  }
  return faults;
}

}  // namespace

ConfigReloader::ConfigReloader(net::EventLoop& loop, ConfigInput input,
                               const CheckedConfig& running, Metrics& metrics, EventLog& log,
                               Hooks hooks)
    : loop_(loop),
      input_(std::move(input)),
      metrics_(metrics),
      log_(log),
      hooks_(std::move(hooks)),
      watcher_(loop_, [this] { Ask(Reason::kChange); }),
      reads_(running.reads) {
  status_.loaded = net::WallClock();
  status_.files = input_.files;
  status_.warnings = Lines(running.warnings);
  loop_.OnSignal(net::kHangupSignal, [this] { Ask(Reason::kSignal); });
  Watch(reads_);
}

ConfigReloader::~ConfigReloader() { Stop(); }

void ConfigReloader::Stop() {
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
  }
  if (thread_.joinable()) thread_.join();
}

void ConfigReloader::OnOtherChange() {
  loop_.Post([this] { Ask(Reason::kChange); });
}

ConfigStatus ConfigReloader::status() const {
  ConfigStatus status;
  {
    const std::lock_guard lock(mutex_);
    status = status_;
  }
  status.snapshot = hooks_.running();
  return status;
}

void ConfigReloader::Watch(const std::vector<std::string>& reads) {
  std::vector<std::string> watched;
  std::copy_if(input_.files.begin(), input_.files.end(), std::back_inserter(watched),
               [](const std::string& file) { return file != kStandardInput; });
  watched.insert(watched.end(), reads.begin(), reads.end());
  for (const std::string& fault : watcher_.Watch(std::move(watched))) {
    log_.Write(EventKind::kConfigUnwatched, [&] {
      return std::vector<LogField>{{"reason", fault}};
    });
  }
  // A file may have changed after it was read and before it was watched. So the watcher behaves as
  // if there had been a change now, and the files are read again a moment later.
  loop_.Post([this] { watcher_.Expect(); });
}

void ConfigReloader::Ask(Reason reason) {
  {
    const std::lock_guard lock(mutex_);
    asked_ = std::max(asked_.value_or(reason), reason);
    if (busy_ || stopped_) return;
    busy_ = true;
  }
  if (thread_.joinable()) thread_.join();  // It has nothing left to do.
  thread_ = std::thread([this] { Run(); });
}

void ConfigReloader::Run() {
  while (const auto reason = Next()) Reload(*reason);
}

std::optional<ConfigReloader::Reason> ConfigReloader::Next() {
  const std::lock_guard lock(mutex_);
  busy_ = asked_.has_value() && !stopped_;
  return busy_ ? std::exchange(asked_, std::nullopt) : std::nullopt;
}

void ConfigReloader::Reload(Reason reason) {
  const CheckedConfig checked = CheckConfig(input_);
  WatchAlso(checked.reads);
  const ConfigStatus before = status();
  const auto refuse = [&](std::vector<std::string> faults) {
    // Files that are refused for the same faults as before are told of only once.
    if (reason == Reason::kSignal || faults != before.faults) Refuse(std::move(faults));
  };
  if (checked.snapshot == nullptr) {
    refuse(Lines(checked.faults));
  } else if (checked.snapshot->sha256 == before.snapshot->sha256 &&
             checked.snapshot->svids_digest == before.snapshot->svids_digest) {
    // The files mean again what is in effect, so their faults are over.
    if (reason == Reason::kSignal || !before.faults.empty()) Succeed(checked);
  } else if (!checked.empty.empty()) {
    refuse(EmptyFaults(checked.empty));
  } else if (const absl::Status taken = hooks_.take_over(checked.snapshot); taken.ok()) {
    const bool same_files = checked.snapshot->sha256 == before.snapshot->sha256;
    if (same_files && reason == Reason::kChange && before.faults.empty()) {
      metrics_.CertificatesRotated();  // The source of certificates has told of them.
    } else {
      Succeed(checked);
    }
  } else if (absl::IsCancelled(taken)) {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
  } else {
    Refuse({std::string(taken.message())});
  }
  // A reload runs much code that serving calls does not need.
  net::ReleaseCodePages();
}

void ConfigReloader::WatchAlso(const std::vector<std::string>& reads) {
  if (reads == reads_) return;
  reads_ = reads;
  loop_.Post([this, reads] { Watch(reads); });
}

void ConfigReloader::Succeed(const CheckedConfig& checked) {
  const absl::Time now = net::WallClock();
  metrics_.ConfigReloaded(checked.snapshot->sha256, now);
  const std::vector<std::string> warnings = Lines(checked.warnings);
  {
    const std::lock_guard lock(mutex_);
    status_.loaded = status_.last_attempt = now;
    status_.warnings = warnings;
    status_.faults.clear();
    ++status_.reloads;
  }
  log_.Write(EventKind::kConfigInEffect, [&] {
    return std::vector<LogField>{{"sha256", checked.snapshot->sha256.substr(0, 12)}};
  });
  for (const std::string& warning : warnings) {
    log_.Write(EventKind::kConfigWarning, [&] {
      return std::vector<LogField>{{"warning", warning}};
    });
  }
}

void ConfigReloader::Refuse(std::vector<std::string> faults) {
  metrics_.ConfigRefused();
  log_.Write(EventKind::kConfigRefused, [&] {
    return std::vector<LogField>{{"faults", faults.size()}};
  });
  for (const std::string& fault : faults) {
    log_.Write(EventKind::kConfigFault, [&] { return std::vector<LogField>{{"fault", fault}}; });
  }
  const std::lock_guard lock(mutex_);
  status_.last_attempt = net::WallClock();
  status_.faults = std::move(faults);
  ++status_.refused;
}

}  // namespace levee
