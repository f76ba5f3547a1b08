// SPDX-License-Identifier: Apache-2.0
#include "cli/client_loop.h"

#include "net/terminal.h"

namespace levee {

void ClientLoop::WatchForEnd() {
  for (const int signal : {net::kInterruptSignal, net::kTerminateSignal, net::kHangupSignal}) {
    loop_.OnSignal(signal, [this] {
      ended_ = true;
      Wake();
    });
  }
}

void ClientLoop::WaitUntil(Instant instant) {
  if (ended_) return;
  wake_ = instant;
  loop_.Run();
}

// Stops the loop once: a second stop would be left over, and end the next wait as it begins.
void ClientLoop::Wake() {
  wake_ = Instant::Infinite();
  loop_.Stop();
}

Instant ClientLoop::OnTurnEnd(Instant now) {
  if (now >= wake_) Wake();
  return wake_;
}

}  // namespace levee
