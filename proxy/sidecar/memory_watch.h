// SPDX-License-Identifier: Apache-2.0
// Keeps the account of the process's memory up to date.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <utility>

#include "absl/time/time.h"
#include "base/block_cache.h"
#include "base/memory_account.h"
#include "base/timer_wheel.h"
#include "net/event_loop.h"
#include "net/memory_limit.h"
#include "server/memory_measure.h"
#include "settings/limits.h"

namespace levee {

// The memory that callers and upstreams can make grow fast is in blocks, which are counted as they
// come and go. This class measures now and then what else the process holds. Workers do so, too,
// when much is freed (MemoryRelief). One thread.
class MemoryWatch final : private Timer {
 public:
  static constexpr absl::Duration kLookEvery = absl::Milliseconds(250);

  // All references must outlive it. `wake` gives each worker a turn, in which it gives back its
  // free blocks, and the tables that callers have filled.
  MemoryWatch(MemoryAccount& account, net::EventLoop& loop, TimerWheel& wheel,
              std::function<void()> wake)
      : account_(account), loop_(loop), wheel_(wheel), wake_(std::move(wake)) {}

  void Start() { OnTimer(loop_.now()); }

  // Returns `limits.memory`, or by what the process may use.
  static int64_t LimitOf(const Limits& limits) {
    constexpr int64_t kUnknown = int64_t{1} << 30;  // of a system that tells of no memory
    if (limits.memory > 0) return limits.memory;
    const int64_t machine = net::MemoryLimit();
    return machine > 0 ? MemoryAccount::LimitOf(machine) : kUnknown;
  }

 private:
  void OnTimer(Instant now) override {
    MeasureMemory(account_);
    const int64_t wanted = account_.wanted_back();
    const bool full =
        account_.Level(AllocatedBlockBytes(), MemoryLevel::kPlenty) >= MemoryLevel::kFull;
    if (std::exchange(wanted_back_, wanted) != wanted || full) wake_();
    wheel_.Arm(*this, now + kLookEvery);
  }

  MemoryAccount& account_;
  net::EventLoop& loop_;
  TimerWheel& wheel_;
  const std::function<void()> wake_;
  int64_t wanted_back_ = 0;
};

}  // namespace levee
