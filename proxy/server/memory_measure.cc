// SPDX-License-Identifier: Apache-2.0
#include "server/memory_measure.h"

#include <algorithm>
#include <cstdint>

#include "base/block_cache.h"
#include "net/memory_limit.h"

namespace levee {

// Blocks that another thread frees meanwhile are not what else is held, though they may be in what
// was measured: nobody would know before the next measuring that they are gone.
//
// A burst of many calls leaves much freed memory in malloc, which nobody needs soon: it is given
// back as well, and again once the threads have added their free blocks.
void MeasureMemory(MemoryAccount& account) {
  const int64_t before = net::OwnBytes();
  const bool give = account.TakeBlocksAreBack() ||
                    account.MustGiveBack(before - AllocatedBlockBytes(), FreedBlockBytes()) ||
                    account.IsTight(before);
  if (give) net::GiveMemoryBack();
  const int64_t blocks = AllocatedBlockBytes();
  const int64_t own = net::OwnBytes();
  const int64_t other = own - std::max(blocks, AllocatedBlockBytes());
  account.SetOther(other);
  if (give) account.SetKept(other, FreedBlockBytes());
}

// Each thread has memory of its own in malloc, so what one has freed is of no use to the others.
void MeasureFreedMemory(MemoryAccount& account) {
  // Blocks that came count beside those that went: a call also holds memory that is in no block.
  const int64_t blocks = AllocatedBlockBytes();
  if (!account.MustMeasure(blocks, blocks + 2 * FreedBlockBytes())) return;
  const int64_t unknown = net::OwnBytes() - account.Held(AllocatedBlockBytes());
  if (unknown > account.limit() / 32) MeasureMemory(account);
}

}  // namespace levee
