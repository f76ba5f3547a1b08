// SPDX-License-Identifier: Apache-2.0
// The stores of a configuration, in a thread of their own.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/random.h"
#include "base/timer_wheel.h"
#include "net/resolver.h"
#include "policy/rate_limiter.h"
#include "settings/store_spec.h"
#include "sidecar/shared_keys.h"
#include "sidecar/store_thread.h"
#include "sidecar/store_watch.h"
#include "store/redis_client.h"

namespace levee {

// Asks the stores for the leases of shared limits and for idempotency keys, so that no thread that
// carries calls waits for one or reads its replies. The thread runs from the first configuration
// with a store on.
class SharedStores final : public LeaseSource, private net::TurnHandler, private Timer {
 public:
  // `answered`: called at the end of a turn in which calls that wait have got an answer, in the
  // stores' thread. `told` hears of the stores, and of those that go away and come back.
  SharedStores(const StoreWatch::Parts& told, std::function<void()> answered);

  ~SharedStores() override { Stop(); }

  // Ends the thread once the stores have replied to what they were told of keys, which their
  // timeouts bound: `answered` is not called any more, and no request has an answer. Idempotent.
  void Stop();

  // Replaces the stores; those that stay as they are keep their connection. `limits`: those whose
  // sidecars are counted. Any thread, one at a time.
  void Configure(std::vector<StoreSpec> stores,
                 const std::vector<std::shared_ptr<RateLimiter>>& limits);

  // Where tables of idempotency keys keep them.
  KeyStore& keys() { return keys_; }

  // LeaseSource. Only after a configuration that has the limit's store.
  void Ask(Bucket bucket, const LeaseRequest& request) override;

 private:
  static StoreView::Kind KindOf(const StoreSpec& spec);

  // Counts what is asked of a store, and tells when it is away.
  class Observer final : public RedisObserver {
   public:
    Observer(SharedStores& stores, const StoreSpec& spec)
        : stores_(stores),
          watch_(stores.told_, spec.name, KindOf(spec), stores.thread_.loop().now()) {}

    void OnCommand(Result result, absl::Duration took) override;
    void OnHandshake(tls::Result result, tls::Version version, absl::Duration took) override {
      watch_.OnHandshake(result, version, took);
    }
    void OnConnected(bool connected, const std::string& reason) override;
    void ShowNodes(const StoreSpec& spec, const RedisClient& client);

   private:
    SharedStores& stores_;
    StoreWatch watch_;
    uint64_t shown_ = 0;  // RedisClient::changes
  };

  struct Store {
    Store(SharedStores& stores, const StoreSpec& store_spec, RedisTarget target);

    StoreSpec spec;
    Observer observer;
    RedisClient client;
  };

  Instant OnTurnEnd(Instant now) override;
  void OnTimer(Instant now) override;
  using Limits = std::vector<std::weak_ptr<RateLimiter>>;

  void Apply(const std::vector<StoreSpec>& stores, std::vector<std::weak_ptr<RateLimiter>> limits);
  void Request(const RateLimiter& limit, const Bucket& bucket, const LeaseRequest& request);
  void KnowSidecars();
  void CountSidecars();
  SharedKeys::Place PlaceOf(const std::string& name);
  Store* StoreOf(const RateLimiter& limit);

  const StoreWatch::Parts told_;
  StoreThread thread_;
  TimerWheel wheel_;
  net::Resolver resolver_;
  Random random_;
  const std::string own_name_;  // among the sidecars
  SharedKeys keys_;             // As they end, the stores answer what it asked.
  std::map<std::string, std::unique_ptr<Store>> stores_;
  std::vector<std::weak_ptr<RateLimiter>> limits_;
  std::map<std::string, int> sidecars_;  // how many share a limit, by its name
  bool stopping_ = false;
};

}  // namespace levee
