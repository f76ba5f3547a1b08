// SPDX-License-Identifier: Apache-2.0
// The table of ties, shared by the workers.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string_view>
#include <utility>

#include "guard/tie_table.h"

namespace levee {

// Any thread.
class Ties {
 public:
  // `seed`: of NumberOfTrace. `on_gone` is called in any thread when the caller of a call that the
  // application serves has gone.
  Ties(uint64_t seed, std::function<void(TraceNumber)> on_gone)
      : seed_(seed), on_gone_(std::move(on_gone)) {}

  // Returns the table with so many places. It lives while anybody holds it. Locks, so workers ask
  // once per plan. After a reload that changes the number, calls of the two tables are not tied.
  std::shared_ptr<TieTable> Get(int max_traces) {
    const std::lock_guard lock(mutex_);
    std::shared_ptr<TieTable> table = table_.lock();
    if (table == nullptr || max_traces_ != max_traces) {
      table = std::make_shared<TieTable>(max_traces);
      table_ = table;
      max_traces_ = max_traces;
    }
    return table;
  }

  TraceNumber NumberOf(std::string_view trace_id) const { return NumberOfTrace(trace_id, seed_); }

  void TellGone(TraceNumber trace) const { on_gone_(trace); }

 private:
  const uint64_t seed_;
  const std::function<void(TraceNumber)> on_gone_;
  std::mutex mutex_;
  std::weak_ptr<TieTable> table_;
  int max_traces_ = 0;
};

}  // namespace levee
