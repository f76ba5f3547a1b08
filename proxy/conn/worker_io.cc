// SPDX-License-Identifier: Apache-2.0
#include "conn/worker_io.h"

#include "base/block_cache.h"
#include "conn/http2_connection.h"

namespace levee {
namespace {

// Of held back bytes, for each connection and for all of them in a turn: they may be thousands of
// heads, and the sockets of the loop wait meanwhile.
constexpr size_t kHeldBackPiece = 4 * 1024;
constexpr size_t kHeldBackInTurn = 64 * 1024;

}  // namespace

void WorkerIo::TakeHeldBack() {
  size_t taken = 0;
  while (taken < kHeldBackInTurn) {
    HeldInput* const first = held_back.PopFront();
    if (first == nullptr) return;
    taken += first->connection.TakeHeldBack(kHeldBackPiece);
    if (BlocksUsedUp()) return;
  }
}

void WorkerIo::EndTurn(Instant now) {
  wheel.Advance(now);
  // Writing can end a stream or a connection, which is news for the tasks: whoever waits for the
  // free place is served in this turn, since nothing else may end the next poll.
  do {
    while (!turn_tasks.empty() && !BlocksUsedUp()) turn_tasks.PopFront()->OnTurnEnd();
    Flush();
  } while (!turn_tasks.empty() && !BlocksUsedUp());
  graveyard.Clear();
}

void WorkerIo::Flush() {
  // Writing returns flow-control window to the other side, which may make that one dirty again.
  while (!dirty_upstream.empty() || !dirty_downstream.empty()) {
    while (Http2Connection* connection = dirty_upstream.PopFront()) connection->Flush();
    while (Http2Connection* connection = dirty_downstream.PopFront()) connection->Flush();
  }
}

}  // namespace levee
