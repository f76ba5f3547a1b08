// SPDX-License-Identifier: Apache-2.0
// What one worker does as the memory of the process runs out.
#pragma once

#include <cstdint>

#include "base/intrusive_list.h"
#include "base/memory_account.h"
#include "conn/worker_io.h"
#include "server/downstream_connection.h"
#include "server/rpc_stream.h"

namespace levee {

// Acts by the level of the account: smaller windows for all streams, and the end of the calls that
// hold most. The worker itself refuses new calls. One thread.
class MemoryRelief {
 public:
  // All references must outlive it.
  MemoryRelief(MemoryAccount& account, WorkerIo& io,
               IntrusiveList<DownstreamConnection>& connections, IntrusiveList<RpcStream>& calls)
      : account_(account), io_(io), connections_(connections), calls_(calls) {}

  // For the end of each turn. True if calls were ended, so that there is more to write.
  bool Look();

  // After Look was true, and what it ended has been written and freed: gives the memory back, and
  // accepts new calls again if there is room.
  void OnEnded();

  // Whether new calls are refused.
  bool full() const { return level_ == MemoryLevel::kFull; }

 private:
  void Adjust();
  void EndLargest(int64_t bytes);

  MemoryAccount& account_;
  WorkerIo& io_;
  IntrusiveList<DownstreamConnection>& connections_;
  IntrusiveList<RpcStream>& calls_;
  MemoryLevel level_ = MemoryLevel::kPlenty;
};

}  // namespace levee
