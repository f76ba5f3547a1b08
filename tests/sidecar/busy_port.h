// SPDX-License-Identifier: Apache-2.0
// A port that somebody else has.
#pragma once

#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "base/timer_wheel.h"
#include "gtest/gtest.h"
#include "net/event_loop.h"
#include "net/listener.h"

namespace levee {

// Listens on 127.0.0.1 as long as it lives.
class BusyPort {
 public:
  // 0: a port of the system's choice.
  explicit BusyPort(uint16_t port = 0)
      : listener_(net::Listener::Open(loop_, wheel_, *net::Address::FromIp("127.0.0.1", port),
                                      [](const net::ByteStream&) {})) {
    EXPECT_TRUE(listener_.ok()) << listener_.status();
  }
  uint16_t port() const { return (*listener_)->address().port(); }

 private:
  net::EventLoop loop_;
  TimerWheel wheel_{loop_.now()};
  absl::StatusOr<std::unique_ptr<net::Listener>> listener_;
};

}  // namespace levee
