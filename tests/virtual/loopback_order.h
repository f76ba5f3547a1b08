// SPDX-License-Identifier: Apache-2.0
// Knows that what was sent over loopback has arrived.
#pragma once

#include <sched.h>

namespace levee {

// The kernel usually delivers a packet on loopback before the call that sends it returns, but on a
// busy machine it may leave that to a thread of its own. It keeps their order, one queue for each
// processor. So this thread stays on one processor, and sends a packet of its own after the others:
// once that has come, they have.
class LoopbackOrder {
 public:
  LoopbackOrder();
  ~LoopbackOrder();
  LoopbackOrder(const LoopbackOrder&) = delete;
  LoopbackOrder& operator=(const LoopbackOrder&) = delete;

  // Returns when the packets that this thread has sent have arrived, and those that the kernel has
  // answered with.
  void Settle() const;

 private:
  cpu_set_t before_;
  int fd_;
};

}  // namespace levee
