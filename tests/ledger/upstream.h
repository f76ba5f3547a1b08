// SPDX-License-Identifier: Apache-2.0
// An upstream endpoint that does its work and fails at it as the schedule has it.
#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <string>

#include "integration/tcp.h"
#include "ledger/book.h"
#include "ledger/loop.h"
#include "ledger/schedule.h"

namespace levee::ledger {

class UpstreamLink;

class Upstream final : private Ready {
 public:
  // Its port is fixed, but nobody listens there before Open.
  Upstream(Loop& loop, const Schedule& schedule, Book& book);
  ~Upstream() override;
  Upstream(const Upstream&) = delete;
  Upstream& operator=(const Upstream&) = delete;

  std::string address() const { return port_.address(); }

  void Open();
  // New connections are refused, what there is goes at once.
  void Drop();
  // New connections are refused, what there is goes when its calls have ended.
  void Terminate();

  // Either of both, and Open after a while.
  void Restart(bool orderly);

 private:
  friend class UpstreamLink;

  void OnReady(uint32_t events) override;
  void StopListening();

  Loop& loop_;
  const Schedule& schedule_;
  Book& book_;
  ReservedPort port_;
  int listener_ = -1;
  std::set<std::shared_ptr<UpstreamLink>> links_;
};

}  // namespace levee::ledger
