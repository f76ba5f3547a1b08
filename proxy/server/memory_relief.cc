// SPDX-License-Identifier: Apache-2.0
#include "server/memory_relief.h"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "base/block_cache.h"

namespace levee {
namespace {

constexpr uint32_t kSmallWindow = 16 * 1024;

// A turn may read this share of the memory that is left, so that what all workers make of the bytes
// before they look again fits: a head is held several times while its call runs.
constexpr int64_t kReadShare = 32;
constexpr int64_t kLeastRead = 64 * 1024;

// A stream whose end frees memory: of a call, or of an answer whose call has ended already.
struct Holder {
  size_t bytes;
  RpcStream* call;
  h2::Stream* rest;
};

}  // namespace

bool MemoryRelief::Look() {
  if (account_.Level(AllocatedBlockBytes(), level_) > MemoryLevel::kPlenty) ReleaseFreeBlocks();
  const int64_t bytes = AllocatedBlockBytes();
  const MemoryLevel before = std::exchange(level_, account_.Level(bytes, level_));
  if (level_ != before) Adjust();
  io_.loop.SetReadAllowance(std::max(account_.Free(bytes) / kReadShare, kLeastRead));
  if (level_ < MemoryLevel::kFull) return false;
  EndLargest(account_.Excess(bytes));
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
}

// The newest first among those that hold equally much.
void MemoryRelief::EndLargest(int64_t bytes) {
  std::vector<Holder> holders;
  calls_.ForEach([&](RpcStream& call) { holders.push_back({call.held_bytes(), &call, nullptr}); });
  connections_.ForEach([&](DownstreamConnection& connection) {
    connection.session().ForEachDetached([&](h2::Stream& stream) {
      holders.push_back({stream.held_bytes(), nullptr, &stream});
    });
  });
  std::reverse(holders.begin(), holders.end());
  std::stable_sort(holders.begin(), holders.end(),
                   [](const Holder& a, const Holder& b) { return a.bytes > b.bytes; });
  for (const Holder& holder : holders) {
    if (bytes <= 0 || holder.bytes == 0) return;
    bytes -= static_cast<int64_t>(holder.bytes);
    io_.series.limit_hits[Limit::kMemory].Add();
    if (holder.call != nullptr) {
      holder.call->EndForMemory();
    } else {
      holder.rest->Reset(kResetEnhanceYourCalm);
    }
  }
}

}  // namespace levee
