// SPDX-License-Identifier: Apache-2.0
// What one worker does as the memory of the process runs out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/block_cache.h"
#include "base/intrusive_list.h"
#include "base/memory_account.h"
#include "conn/worker_io.h"
#include "server/accepted_connection.h"
#include "server/destination_table.h"
#include "server/downstream_connection.h"
#include "server/memory_holders.h"
#include "server/raw_tunnel.h"
#include "server/rpc_stream.h"

namespace levee {

// Acts by the level of the account: smaller windows for all streams, then the tables that callers
// have filled are given back, and if that is not enough those end that MemoryHolder names. The
// worker itself refuses new calls, as this says. One thread.
class MemoryRelief {
 public:
  // The things of callers that one worker has.
  struct Callers {
    IntrusiveList<AcceptedConnection>& accepted;
    IntrusiveList<DownstreamConnection>& connections;
    IntrusiveList<RawTunnel>& tunnels;
    IntrusiveList<RpcStream>& calls;
  };

  // All references must outlive it.
  MemoryRelief(MemoryAccount& account, WorkerIo& io, const Callers& callers,
               DestinationTable& destinations)
      : account_(account), io_(io), callers_(callers), destinations_(destinations) {}

  // Before the end of each turn: goes on with what was held back in earlier ones. For that, and for
  // the tasks of the turn's end, as much may be made again as for what was read, so that none of
  // them waits for the others.
  void TakeHeldBack() {
    AllowBlocks(made_in_turn_);
    if (io_.held_back.empty()) return;
    io_.TakeHeldBack();
    AllowBlocks(made_in_turn_);
  }

  // For the end of each turn. True if something was ended, so that there is more to write.
  bool Look();

  // After Look was true, and what it ended has been written and freed: gives the memory back, and
  // accepts new calls again if there is room.
  void OnEnded();

  // Whether new calls of a connection are refused. While there is a little left, calls go on that
  // are on connections which held little at the last Look: they do not pay for what others hold.
  bool Refuses(const DownstreamConnection& connection) const {
    return level_ == MemoryLevel::kExhausted ||
           (level_ == MemoryLevel::kFull && connection.holds_much());
  }

 private:
  void Adjust();

  // If the account wants them.
  void GiveBlocksBack();

  // Gives the tables back that callers have filled, if memory is short. Returns whether something
  // was given and the account knows it.
  bool GiveTablesBack();

  // Sees which connections carry something, so that it is known for how long they have not.
  void LookAtIdle();

  // Returns what holds memory, by who gives first, and marks the connections that hold much.
  std::vector<MemoryHolder> Measure(bool with_idle);
  void AddIdle(std::vector<MemoryHolder>& holders);

  // Frees `bytes` of those at fault, and of the others what `bytes_of_all` are more.
  void EndLargest(int64_t bytes, int64_t bytes_of_all);

  MemoryAccount& account_;
  WorkerIo& io_;
  const Callers callers_;
  DestinationTable& destinations_;
  Instant tables_due_;   // not earlier
  Instant idle_due_;     // LookAtIdle, likewise
  Instant callers_due_;  // idle connections, and calls of the largest caller, likewise
  MemoryLevel level_ = MemoryLevel::kPlenty;
  bool ended_connections_ = false;  // in this turn
  int64_t made_in_turn_ = INT64_MAX;
  int64_t given_back_ = 0;  // account_.wanted_back() when blocks were given back
};

}  // namespace levee
