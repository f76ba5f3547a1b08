// SPDX-License-Identifier: Apache-2.0
// The service whose work must not be done twice.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <set>
#include <string>

#include "key_ledger/key_book.h"
#include "key_ledger/plan.h"
#include "ledger/loop.h"

namespace levee::ledger {

class ApplicationLink;

class Application final : private Ready {
 public:
  Application(Loop& loop, const KeyPlan& plan, KeyBook& book);
  ~Application() override;
  Application(const Application&) = delete;
  Application& operator=(const Application&) = delete;

  std::string address() const { return "127.0.0.1:" + std::to_string(port_); }

  // Ends all connections.
  void Drop();

  // How often each fate befell a request, and each moment one that was cut.
  const std::array<uint64_t, kFates>& fates() const { return fates_; }
  const std::array<uint64_t, kMoments>& moments() const { return moments_; }

 private:
  friend class ApplicationLink;

  void OnReady(uint32_t events) override;

  Loop& loop_;
  const KeyPlan& plan_;
  KeyBook& book_;
  int listener_ = -1;
  uint16_t port_ = 0;
  std::array<uint64_t, kFates> fates_{};
  std::array<uint64_t, kMoments> moments_{};
  std::set<std::shared_ptr<ApplicationLink>> links_;
};

}  // namespace levee::ledger
