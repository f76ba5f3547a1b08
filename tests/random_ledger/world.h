// SPDX-License-Identifier: Apache-2.0
// One real sidecar under random policies, between random callers and random services.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "integration/sidecar_process.h"
#include "integration/tcp.h"
#include "ledger/access_log.h"
#include "ledger/book.h"
#include "ledger/caller.h"
#include "ledger/loop.h"
#include "ledger/upstream.h"
#include "random_ledger/random_config.h"
#include "random_ledger/random_schedule.h"

namespace levee::ledger {

// Everything but time is drawn from the seed.
class World {
 public:
  explicit World(uint64_t seed);

  // Makes `calls` calls under each of `policies` configurations, each of which a reload brings
  // while calls are under way. What is wrong is printed and fails the current test.
  void Run(int policies, uint64_t calls);

  uint64_t calls() const { return book_.begun(); }
  // What the sidecar counted in all, by metric and label; what random calls are to meet.
  const std::map<std::string, uint64_t>& counts() const { return counts_; }

 private:
  void Start();
  bool Reload(uint64_t calls);
  // Turns until it holds; false, with a complaint, when nothing has moved for long, or the sidecar
  // is dead.
  bool TurnUntil(const char* what, const std::function<bool()>& holds);
  bool AllCallsCome();
  bool End();
  void CheckCounts();
  void Expect(bool holds, const std::string& what);
  void ExpectEqual(const std::string& what, uint64_t counted, uint64_t expected);
  uint64_t Sum(const char* name, const std::vector<std::string>& labels = {}) const;
  void PrintConfigs() const;

  const uint64_t seed_;
  Loop loop_;
  RandomSchedule schedule_;
  Book book_;
  AccessLog log_;
  std::vector<std::unique_ptr<Upstream>> upstreams_;  // the last is the application
  ReservedPort nowhere_;
  std::unique_ptr<RandomConfig> drawn_;
  std::vector<std::string> configs_;
  std::vector<uint64_t> first_calls_;  // of each configuration
  std::unique_ptr<TempFile> file_;
  std::unique_ptr<SidecarProcess> sidecar_;
  std::vector<std::unique_ptr<Caller>> callers_;
  std::map<std::string, uint64_t> counts_;
  uint64_t faults_ = 0;
};

}  // namespace levee::ledger
