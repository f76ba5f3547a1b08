// SPDX-License-Identifier: Apache-2.0
// The stores of a configuration, in a thread of their own.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/random.h"
#include "base/timer_wheel.h"
#include "net/event_loop.h"
#include "net/resolver.h"
#include "policy/rate_limiter.h"
#include "settings/store_spec.h"
#include "store/redis_client.h"

namespace levee {

// Asks the stores for the leases of shared limits, so that no thread that carries calls waits for
// one or reads its replies. The thread runs from the first configuration with a store on.
class SharedStores final : public LeaseSource, private net::TurnHandler, private Timer {
 public:
  // `answered`: called at the end of a turn in which calls that wait have got an answer, in the
  // stores' thread.
  explicit SharedStores(std::function<void()> answered);

  ~SharedStores() override { Stop(); }

  // Ends the thread: `answered` is not called any more, and no request has an answer. Idempotent.
  void Stop();

  // Replaces the stores; those that stay as they are keep their connection. `limits`: those whose
  // sidecars are counted. Any thread, one at a time.
  void Configure(std::vector<StoreSpec> stores,
                 const std::vector<std::shared_ptr<RateLimiter>>& limits);

  // LeaseSource. Only after a configuration that has the limit's store.
  void Ask(Bucket bucket, const LeaseRequest& request) override;

 private:
  struct Store {
    StoreSpec spec;
    RedisClient client;
  };

  Instant OnTurnEnd(Instant now) override;
  void OnTimer(Instant now) override;
  using Limits = std::vector<std::weak_ptr<RateLimiter>>;

  void Apply(const std::vector<StoreSpec>& stores, std::vector<std::weak_ptr<RateLimiter>> limits);
  void Request(const Bucket& bucket, const LeaseRequest& request);
  void OnReply(const Bucket& bucket, const absl::StatusOr<RedisReply>& reply);
  void CountSidecars();
  Store* StoreOf(const RateLimiter& limit);

  const std::function<void()> answered_;
  net::EventLoop loop_;
  TimerWheel wheel_;
  net::Resolver resolver_;
  Random random_;
  const std::string own_name_;  // among the sidecars
  std::map<std::string, std::unique_ptr<Store>> stores_;
  std::vector<std::weak_ptr<RateLimiter>> limits_;
  bool answer_waited_for_ = false;
  std::thread thread_;
};

}  // namespace levee
