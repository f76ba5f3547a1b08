// SPDX-License-Identifier: Apache-2.0
// The callers of all sidecars: connections with many calls at a time.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/random.h"
#include "key_ledger/key_book.h"
#include "key_ledger/plan.h"
#include "ledger/loop.h"

namespace levee::ledger {

inline constexpr size_t kPods = 3;
inline constexpr size_t kLinksPerPod = 2;

class PodLink;

class PodCallers {
 public:
  PodCallers(Loop& loop, KeyPlan& plan, KeyBook& book, uint64_t seed);
  ~PodCallers();
  PodCallers(const PodCallers&) = delete;
  PodCallers& operator=(const PodCallers&) = delete;

  // Connects to the sidecars at these addresses, "127.0.0.1:PORT", and begins.
  void Begin(const std::array<std::string, kPods>& addresses);

  // Whether each key has had its calls, and all have ended.
  bool done() const;

  void HangUp();

 private:
  friend class PodLink;

  // A call that may begin now at that sidecar.
  std::optional<KeyCall> Next(size_t pod);
  // Its store was away: it is made again, through any sidecar.
  void Again(const KeyCall& call);

  Loop& loop_;
  KeyPlan& plan_;
  KeyBook& book_;
  Random random_;
  bool planned_all_ = false;
  std::array<std::deque<KeyCall>, kPods> waiting_;
  std::vector<std::shared_ptr<PodLink>> links_;
};

}  // namespace levee::ledger
