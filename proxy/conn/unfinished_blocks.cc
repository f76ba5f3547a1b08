// SPDX-License-Identifier: Apache-2.0
#include "conn/unfinished_blocks.h"

#include <utility>

#include "conn/http2_connection.h"

namespace levee {

void UnfinishedBlocks::Update(UnfinishedBlock& block, size_t bytes, bool anew, Instant now) {
  if (bytes == 0 || anew) Remove(block);
  if (bytes == 0) return;
  if (!block.linked()) {
    block.since = now;
    blocks_.PushBack(block);
    if (Timer::when().is_infinite()) wheel_.Arm(*this, now + kLongest);
  }
  total_bytes_ += bytes - block.bytes;
  block.bytes = bytes;
  while (total_bytes_ > kMaxBytes) {
    series_.limit_hits[Limit::kHeaderBlocks].Add();
    blocks_.Front().connection.Close("too many bytes of unfinished header blocks");
  }
}

void UnfinishedBlocks::Remove(UnfinishedBlock& block) {
  total_bytes_ -= std::exchange(block.bytes, 0);
  block.Unlink();
}

void UnfinishedBlocks::OnTimer(Instant now) {
  while (!blocks_.empty() && now >= blocks_.Front().since + kLongest) {
    series_.limit_hits[Limit::kHeaderTime].Add();
    blocks_.Front().connection.Close("a header block took longer than 10 s");
  }
  if (!blocks_.empty()) wheel_.Arm(*this, blocks_.Front().since + kLongest);
}

}  // namespace levee
