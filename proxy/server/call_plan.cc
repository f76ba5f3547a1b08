// SPDX-License-Identifier: Apache-2.0
#include "server/call_plan.h"

namespace levee {
namespace {

// A line that tells its calls what it has decided at the end of the turn.
class TurnEndLine final : private TurnTask {
 public:
  TurnEndLine(const std::shared_ptr<RetryBudget>& budget, int worker, WaitingPlaces& places,
              WorkerIo& io)
      : io_(io), line_(budget, worker, places, [this] { io_.AtTurnEnd(*this); }) {}

  WaitingRetries& line() { return line_; }

 private:
  void OnTurnEnd() override { line_.Tell(io_.loop.now()); }

  WorkerIo& io_;
  WaitingRetries line_;
};

}  // namespace

std::shared_ptr<WaitingRetries> Destination::LineOf(const std::shared_ptr<RetryBudget>& budget,
                                                    int worker, WaitingPlaces& places,
                                                    WorkerIo& io) {
  std::shared_ptr<WaitingRetries> line;
  std::erase_if(waiting, [&](const std::weak_ptr<WaitingRetries>& other) {
    const std::shared_ptr<WaitingRetries> known = other.lock();
    if (known != nullptr && &known->budget() == budget.get()) line = known;
    return known == nullptr;
  });
  if (line == nullptr) {
    const auto made = std::make_shared<TurnEndLine>(budget, worker, places, io);
    line = {made, &made->line()};
    waiting.push_back(line);
  }
  return line;
}

FeatureSeries::FeatureSeries(Metrics& metrics, int worker, const std::string& upstream,
                             const RoutePolicies& policies) {
  const CallPolicy& policy = policies.policy;
  for (const RateLimitPolicy& limit : policy.rate_limits) {
    limits.push_back(&metrics.RateLimit(worker, policy.name, limit.name));
  }
  if (policy.guard.has_value()) guard = &metrics.Guard(worker, upstream);
  if (policy.dedupe.has_value()) dedupe = &metrics.Dedupe(worker, upstream);
  if (policies.shadow != nullptr) {
    shadow = &metrics.Shadow(worker, policy.name, policies.shadow->name);
  }
}

std::shared_ptr<CallPlan> PlanCache::Find(const PlanKey& key) const {
  const auto found = plans_.find(key);
  return found == plans_.end() ? nullptr : found->second;
}

bool PlanCache::MakeRoom(size_t bytes) {
  const bool full = bytes_ + bytes > kMaxBytes;
  if (full) Clear();
  bytes_ += bytes;
  return full;
}

bool PlanCache::Insert(const PlanKey& key, std::shared_ptr<CallPlan> plan) {
  const bool full = MakeRoom(Bytes(key));
  plans_.emplace(OwnedKey(key), std::move(plan));
  return full;
}

const RouteChoice* PlanCache::FindChoice(const PlanKey& key) const {
  const auto found = choices_.find(key);
  return found == choices_.end() ? nullptr : found->second.get();
}

const RouteChoice* PlanCache::InsertChoice(const PlanKey& key, const RouteTable& table,
                                           const std::vector<int>& candidates, bool& full) {
  const auto known = shared_choices_.find(candidates);
  std::shared_ptr<const RouteChoice> choice =
      known != shared_choices_.end() ? known->second
                                     : std::make_shared<const RouteChoice>(table, candidates);
  const bool is_new = known == shared_choices_.end();
  full = MakeRoom(Bytes(key) + (is_new ? choice->bytes() : 0));
  // MakeRoom may have dropped the shared choice, and its bytes with it.
  if (is_new || full) shared_choices_.emplace(candidates, choice);
  if (full && !is_new) bytes_ += choice->bytes();
  return choices_.emplace(OwnedKey(key), std::move(choice)).first->second.get();
}

}  // namespace levee
