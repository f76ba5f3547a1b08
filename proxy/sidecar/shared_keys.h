// SPDX-License-Identifier: Apache-2.0
// The idempotency keys that sidecars share, on the loop of the stores.
#pragma once

#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "base/timer_wheel.h"
#include "dedupe/key_keeper.h"
#include "dedupe/key_store.h"
#include "net/event_loop.h"
#include "store/redis_client.h"

namespace levee {

class SharedKeys final : public KeyStore, private KeyWire, private Timer {
 public:
  struct Place {
    RedisClient* client = nullptr;  // nullptr: there is no such store any more
    std::string prefix;
  };

  // `find`: returns a store by its name, in the loop's thread. All outlive it, and `find` until
  // the loop has ended.
  SharedKeys(net::EventLoop& loop, TimerWheel& wheel, std::function<Place(const std::string&)> find)
      : loop_(loop), wheel_(wheel), find_(std::move(find)) {}

  void Post(KeyCommand command) override;

  // From now on nothing is repeated, renewed or looked at. In the loop's thread, as what follows.
  void Finish();

  // Whether no command waits for its reply.
  bool settled() const { return under_way_ == 0; }

 private:
  void TakePosted();
  void Send(const KeyCommand& command, Done done) override;
  void OnTimer(Instant now) override;
  void Rearm();

  net::EventLoop& loop_;
  TimerWheel& wheel_;
  const std::function<Place(const std::string&)> find_;
  KeyKeeper keeper_{*this};
  int under_way_ = 0;  // commands without a reply
  bool finishing_ = false;

  std::mutex posted_mutex_;
  std::vector<KeyCommand> posted_;  // which the loop has not taken yet
};

}  // namespace levee
