// SPDX-License-Identifier: Apache-2.0
// One worker's side of a guard.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include "absl/time/time.h"
#include "base/instant.h"
#include "guard/guard.h"
#include "policy/latency_estimate.h"

namespace levee {

// How long a service took for a unary call that it ended, or had not ended at the deadline.
struct ServiceTime {
  absl::Duration took;
  bool failed = false;  // by the service
  bool cut = false;     // at the deadline
};

// The host calls Look when the guard wakes its worker, and at the times that it asks for. One
// thread.
class GuardLine {
 public:
  // `look_at`: asks for Look at that time; it may be asked for again before. Does not call back.
  GuardLine(std::shared_ptr<Guard> guard, int worker, std::function<void(Instant)> look_at)
      : guard_(std::move(guard)), worker_(worker), look_at_(std::move(look_at)) {}

  Guard& guard() const { return *guard_; }
  int worker() const { return worker_; }

  // As the functions of Guard that have these names.
  bool TryEnter(int previous, Instant now) { return guard_->TryEnter(worker_, previous, now); }
  Guard::Entry Enter(GuardPlace& place, GuardRank rank, Instant start_by, Instant now) {
    const Guard::Entry entry = guard_->Enter(place, rank, start_by, now);
    if (entry.waits) LookAt(entry.look_at);
    return entry;
  }
  std::optional<GuardRefusal> Lend(GuardPlace& place, int previous, Instant now) {
    return guard_->Lend(place, previous, now);
  }
  bool Keep(GuardPlace& place) { return guard_->Keep(place); }
  void Leave(int method, std::optional<ServiceTime> took, Instant now) {
    guard_->Leave(worker_, method, SampleOf(method, took, now), now, took && took->cut);
  }
  void Report(const RetryReport& report, int64_t calls, Instant now) {
    guard_->Report(report, calls, now);
  }
  void Withdraw(GuardPlace& place, Instant now) { guard_->Withdraw(place, now); }

  // Returns the last moment at which a call of `method` can begin and still be answered before
  // `deadline`, as far as is known.
  Instant StartBy(int method, Instant deadline, Instant now) {
    const auto median = LatencyOf(method).Quantile(0.5, now);
    return deadline.is_infinite() ? deadline : deadline - median.value_or(absl::ZeroDuration());
  }

  // Tells this worker's clients what the guard has decided.
  void Look(Instant now) {
    if (now >= next_look_) next_look_ = Instant::Infinite();
    LookAt(guard_->Answer(worker_, now));
  }

 private:
  void LookAt(Instant when) {
    if (when >= next_look_) return;
    next_look_ = when;
    look_at_(when);
  }

  // Returns what the guard is to judge the service by. A failure that comes sooner than most
  // answers do says nothing of the room in the service. One that comes as late as they do is work
  // as well.
  std::optional<absl::Duration> SampleOf(int method, std::optional<ServiceTime> time, Instant now) {
    if (!time.has_value()) return std::nullopt;
    if (time->cut) return time->took;
    LatencyEstimate& answers = LatencyOf(method);
    if (!time->failed) {
      answers.Record(time->took, now);
    } else if (time->took < answers.Quantile(0.5, now).value_or(absl::ZeroDuration())) {
      return std::nullopt;
    }
    return time->took;
  }

  LatencyEstimate& LatencyOf(int method) {
    std::unique_ptr<LatencyEstimate>& latency = latencies_[static_cast<size_t>(method)];
    if (latency == nullptr) latency = std::make_unique<LatencyEstimate>();
    return *latency;
  }

  const std::shared_ptr<Guard> guard_;
  const int worker_;
  const std::function<void(Instant)> look_at_;
  Instant next_look_ = Instant::Infinite();  // that was asked for
  std::array<std::unique_ptr<LatencyEstimate>, Guard::kMethods + 1> latencies_;
};

}  // namespace levee
