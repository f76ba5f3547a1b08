// SPDX-License-Identifier: Apache-2.0
#include "server/memory_measure.h"

#include <cstdint>

#include "base/block_cache.h"
#include "base/block_totals.h"
#include "net/memory_limit.h"

namespace levee {

void MeasureMemory(MemoryAccount& account) {
  int64_t own = net::OwnBytes();
  if (account.IsTight(own)) {
    net::GiveMemoryBack();
    own = net::OwnBytes();
  }
  account.SetOther(own - AllocatedBlockBytes());
}

// Each thread has memory of its own in malloc, so what one has freed is of no use to the others.
void MeasureFreedMemory(MemoryAccount& account) {
  if (!account.MustMeasure(AllocatedBlockBytes(), FreedBlockBytes())) return;
  const int64_t unknown = net::OwnBytes() - account.Held(AllocatedBlockBytes());
  if (unknown > account.limit() / 32) MeasureMemory(account);
}

}  // namespace levee
