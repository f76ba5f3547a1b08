// SPDX-License-Identifier: Apache-2.0
// The event loop of a command that asks servers and waits for their answers.
#pragma once

#include "base/instant.h"
#include "net/event_loop.h"

namespace levee {

// One thread. WaitUntil returns early once the process was asked to end, if it watches for that.
class ClientLoop final : private net::TurnHandler {
 public:
  ClientLoop() { loop_.SetTurnHandler(this); }

  // From now on Ctrl-C, SIGTERM and the end of the terminal do not end the process, but make
  // `ended` true.
  void WatchForEnd();
  bool ended() const { return ended_; }

  net::EventLoop& loop() { return loop_; }
  Instant now() { return loop_.now(); }
  void WaitUntil(Instant instant);

  // Ends the wait that is under way. Only from within it.
  void Wake();

 private:
  Instant OnTurnEnd(Instant now) override;

  net::EventLoop loop_;
  Instant wake_ = Instant::Infinite();
  bool ended_ = false;
};

}  // namespace levee
