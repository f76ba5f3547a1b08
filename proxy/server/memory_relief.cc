// SPDX-License-Identifier: Apache-2.0
#include "server/memory_relief.h"

#include <algorithm>
#include <cstddef>
#include <tuple>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "base/block_cache.h"
#include "server/memory_measure.h"

namespace levee {
namespace {

constexpr uint32_t kSmallWindow = 16 * 1024;

// The windows of one worker's busy streams may together be larger than usual by this share of the
// limit, and by this much.
constexpr int64_t kGrowthShare = 64;
constexpr int64_t kMostGrowth = 64 * 1024 * 1024;

// A turn may read this share of the memory that is left, so that what all workers make of the bytes
// before they look again fits: a head is held several times while its call runs.
constexpr int64_t kReadShare = 32;
constexpr int64_t kLeastRead = 64 * 1024;

// And so much may be made: of what is read, again of what was held back, and again by what waits
// for the end of the turn, such as attempts for a connection that has come up. It is less than what
// may be read because not everything that is made is in blocks, and because every worker may make
// so much before any of them looks again.
constexpr int64_t kMadeShare = 64;
constexpr int64_t kLeastMade = 128 * 1024;

// While bytes are held back, a socket reads this much at a time: what all connections together have
// held back is to be little, and whoever sends most of it has small frames.
constexpr size_t kReadBesideHeldBack = 4 * 1024;

// The least time between two looks at the tables that callers have filled.
constexpr absl::Duration kTablesPause = absl::Milliseconds(250);

// Of the objects of a call and its streams, which come to its bodies and heads.
constexpr size_t kCallBytes = 4 * 1024;

}  // namespace

bool MemoryRelief::Look() {
  MeasureFreedMemory(account_);
  GiveBlocksBack();
  int64_t bytes = AllocatedBlockBytes();
  MemoryLevel level = account_.Level(bytes, level_);
  if (level > MemoryLevel::kPlenty) {
    ReleaseFreeBlocks();
    bytes = AllocatedBlockBytes();
    level = account_.Level(bytes, level_);
  }
  level_ = level;
  if (GiveTablesBack()) {
    bytes = AllocatedBlockBytes();
    level_ = account_.Level(bytes, level_);
  }
  Adjust();
  const int64_t free = account_.Free(bytes);
  io_.loop.SetReadAllowance(std::max(free / kReadShare, kLeastRead));
  io_.loop.SetReadMost(io_.held_back.empty() ? SIZE_MAX : kReadBesideHeldBack);
  made_in_turn_ = std::max(free / kMadeShare, kLeastMade);
  AllowBlocks(made_in_turn_);
  if (level_ < MemoryLevel::kFull) return false;
  EndLargest(account_.Excess(bytes), account_.ExcessOfAll(bytes));
  return true;
}

void MemoryRelief::GiveBlocksBack() {
  const int64_t wanted = account_.wanted_back();
  if (std::exchange(given_back_, wanted) == wanted) return;
  ReleaseFreeBlocks();
  account_.SetBlocksAreBack();
}

// Not in each turn: what is made anew meanwhile is little, and measuring takes milliseconds.
bool MemoryRelief::GiveTablesBack() {
  const Instant now = io_.loop.now();
  if (level_ < MemoryLevel::kFull || now < tables_due_) return false;
  tables_due_ = now + kTablesPause;
  if (destinations_.GiveBack(account_.Excess(AllocatedBlockBytes())) == 0) return false;
  ReleaseFreeBlocks();
  MeasureMemory(account_);
  return true;
}

void MemoryRelief::OnEnded() {
  ReleaseFreeBlocks();
  level_ = account_.Level(AllocatedBlockBytes(), level_);
  Adjust();
}

void MemoryRelief::Adjust() {
  const bool plenty = level_ == MemoryLevel::kPlenty;
  io_.stream_window = plenty ? h2::SessionOptions().stream_window_bytes : kSmallWindow;
  io_.streams.SetRoomToGrow(plenty ? std::min(account_.limit() / kGrowthShare, kMostGrowth) : 0);
}

std::vector<MemoryRelief::Holder> MemoryRelief::Measure() {
  std::vector<Holder> holders;
  absl::flat_hash_map<const ConnectionOrigin*, size_t> of_connections;
  size_t all = 0;
  const auto add = [&](const Holder& holder) {
    if (holder.bytes == 0) return;
    all += holder.bytes;
    of_connections[holder.origin] += holder.bytes;
    holders.push_back(holder);
  };
  calls_.ForEach([&](RpcStream& call) {
    add({.bytes = kCallBytes + call.held_bytes(), .origin = &call.origin(), .call = &call});
  });
  connections_.ForEach([&](DownstreamConnection& connection) {
    connection.session().ForEachDetached([&](h2::Stream& stream) {
      add({.bytes = sizeof(h2::Stream) + stream.held_bytes(),
           .origin = &connection.origin(),
           .rest = &stream});
    });
  });
  const size_t much = account_.Much(all, of_connections.size());
  connections_.ForEach([&](DownstreamConnection& connection) {
    const auto held = of_connections.find(&connection.origin());
    connection.SetHoldsMuch(held != of_connections.end() && held->second > much);
  });
  for (Holder& holder : holders) holder.of_much = of_connections[holder.origin] > much;
  return holders;
}

// Calls on connections that hold much end first, and of these the largest, the newest first among
// those that hold equally much. Others end only if that was not enough.
void MemoryRelief::EndLargest(int64_t bytes, int64_t bytes_of_all) {
  std::vector<Holder> holders = Measure();
  std::reverse(holders.begin(), holders.end());
  std::stable_sort(holders.begin(), holders.end(), [](const Holder& a, const Holder& b) {
    return std::tie(a.of_much, a.bytes) > std::tie(b.of_much, b.bytes);
  });
  for (const Holder& holder : holders) {
    if ((holder.of_much ? bytes : bytes_of_all) <= 0) return;
    bytes -= static_cast<int64_t>(holder.bytes);
    bytes_of_all -= static_cast<int64_t>(holder.bytes);
    io_.series.limit_hits[Limit::kMemory].Add();
    if (holder.call != nullptr) {
      holder.call->EndForMemory();
    } else {
      holder.rest->Reset(kResetEnhanceYourCalm);
    }
  }
}

}  // namespace levee
