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
                               ConfigTaker& taker)
    : loop_(loop),
      input_(std::move(input)),
      metrics_(metrics),
      log_(log),
      taker_(taker),
      watcher_(loop_, [this] { Ask({.files = Reason::kChange}); }),
      reads_(running.reads),
      renew_(running.renew) {
  status_.loaded = net::WallClock();
  status_.files = input_.files;
  status_.warnings = Lines(running.warnings);
  loop_.OnSignal(net::kHangupSignal, [this] { Ask({.files = Reason::kSignal}); });
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

void ConfigReloader::OnNewSvids() {
  loop_.Post([this] { Ask({.svids = true}); });
}

ConfigStatus ConfigReloader::status() const {
  ConfigStatus status;
  {
    const std::lock_guard lock(mutex_);
    status = status_;
  }
  status.snapshot = taker_.Running();
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

void ConfigReloader::Ask(const Work& work) {
  {
    const std::lock_guard lock(mutex_);
    asked_.svids |= work.svids;
    asked_.files = std::max(asked_.files, work.files);  // Without a value it is the least.
    if (busy_ || stopped_) return;
    busy_ = true;
  }
  if (thread_.joinable()) thread_.join();  // It has nothing left to do.
  thread_ = std::thread([this] { Run(); });
}

void ConfigReloader::Run() {
  for (Work work = Next(); work.any(); work = Next()) {
    if (work.svids) {
      Rotate();
    } else {
      Reload(*work.files);
    }
    // This runs much code that serving calls does not need.
    net::ReleaseCodePages();
  }
}

// Returns one thing at a time. Certificates come first, so that a file that cannot be read holds
// none up.
ConfigReloader::Work ConfigReloader::Next() {
  const std::lock_guard lock(mutex_);
  busy_ = asked_.any() && !stopped_;
  if (!busy_) return {};
  if (std::exchange(asked_.svids, false)) return {.svids = true};
  return std::exchange(asked_, Work());
}

// A reload that began after something new had come has taken it already.
void ConfigReloader::Rotate() {
  if (renew_ == nullptr) return;
  const std::shared_ptr<const Snapshot> next = renew_();
  if (next->svids_digest == taker_.Running()->svids_digest) return;
  const absl::Status taken = TakeOver(next);
  if (taken.ok()) {
    metrics_.CertificatesRotated();
  } else if (!absl::IsCancelled(taken)) {
    Refuse({std::string(taken.message())});
  }
}

void ConfigReloader::Reload(Reason reason) {
  const CheckedConfig checked = CheckConfig(input_);
  WatchAlso(checked.reads);
  const ConfigStatus before = status();
  const auto refuse = [&](std::vector<std::string> faults) {
    const bool same = faults == before.faults;
    ReadAgain(same);
    // Files that are refused for the same faults as before are told of only once.
    if (reason == Reason::kSignal || !same) Refuse(std::move(faults));
  };
  if (checked.snapshot == nullptr) {
    refuse(Lines(checked.faults));
    return;
  }
  const bool same_files = checked.snapshot->sha256 == before.snapshot->sha256;
  if (!same_files && !checked.empty.empty()) {
    refuse(EmptyFaults(checked.empty));
  } else if (const absl::Status taken = Take(checked, *before.snapshot); taken.ok()) {
    // If the files mean again what is in effect, their faults are over.
    if (!same_files || reason == Reason::kSignal || !before.faults.empty()) Succeed(checked);
  } else if (!absl::IsCancelled(taken)) {
    refuse({std::string(taken.message())});
  }
}

// `same`: for the faults of the time before.
void ConfigReloader::ReadAgain(bool same) {
  if (!same) read_again_ = 0;
  if (++read_again_ > kReadAgain) return;
  loop_.Post([this] { watcher_.Expect(kReadAgainAfter); });
}

// Takes over what was read, unless it is in effect.
absl::Status ConfigReloader::Take(const CheckedConfig& checked, const Snapshot& before) {
  const Snapshot& next = *checked.snapshot;
  const bool same_svids = next.svids_digest == before.svids_digest;
  if (same_svids && next.sha256 == before.sha256) return absl::OkStatus();
  if (absl::Status taken = TakeOver(checked.snapshot); !taken.ok()) return taken;
  renew_ = checked.renew;
  // Where other APIs are named, other certificates are no rotation.
  if (!same_svids && next.workload_apis == before.workload_apis) metrics_.CertificatesRotated();
  return absl::OkStatus();
}

// After Cancelled nothing is read or taken any more.
absl::Status ConfigReloader::TakeOver(const std::shared_ptr<const Snapshot>& snapshot) {
  absl::Status taken = taker_.TakeOver(snapshot);
  if (absl::IsCancelled(taken)) {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
  }
  return taken;
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
