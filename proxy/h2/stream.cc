// SPDX-License-Identifier: Apache-2.0
#include "h2/stream.h"

#include <algorithm>

#include "base/check.h"
#include "h2/session.h"

namespace levee::h2 {
namespace {

constexpr size_t kSentChunksKept = 64;

}  // namespace

void Stream::SendHead(bool end) {
  LEVEE_CHECK(head_state_ == Head::kNone);
  head_state_ = Head::kQueued;
  head_ends_ = data_ended_ = end;
  session_->sender_.OnQueued(*this);
}

void Stream::SendData(const Chunk& data, bool end) {
  LEVEE_CHECK(!data_ended_);
  if (!data.empty()) {
    AppendChunk(queue_, data);
    queued_bytes_ += data.size();
    session_->link_.streams.AddQueued(data.size());
  }
  data_ended_ = end;
  session_->sender_.OnQueued(*this);
}

void Stream::SendTrailers() {
  LEVEE_CHECK(!data_ended_);
  data_ended_ = has_trailers_ = true;
  session_->sender_.OnQueued(*this);
}

void Stream::MoveQueued(size_t bytes, OutputBuffer& out) {
  queued_bytes_ -= bytes;
  while (bytes > 0) {
    Chunk& front = queue_[queue_front_];
    const size_t size = std::min(bytes, front.size());
    out.Append(front, size);
    bytes -= size;
    front.RemovePrefix(size);
    if (front.empty()) ++queue_front_;
  }
  // Sent chunks are erased in batches, so that a queue that is never quite empty does not grow.
  if (queue_front_ == queue_.size() || queue_front_ >= kSentChunksKept) {
    queue_.erase(queue_.begin(), queue_.begin() + static_cast<ptrdiff_t>(queue_front_));
    queue_front_ = 0;
  }
}

void Stream::Reset(uint32_t error_code) { session_->ends_.Reset(*this, error_code); }

void Stream::Credit(size_t bytes) { session_->windows_.Credit(*this, bytes); }

void Stream::Recycle() {
  session_ = nullptr;
  handler_ = nullptr;
  next_in_table_ = nullptr;
  id_ = 0;
  for (Metadata* fields : {&received_, &head_, &trailers_}) {
    fields->Clear();
    fields->Shrink();
  }
  retired_ = head_received_ = remote_ended_ = oversized_ = false;
  body_left_ = -1;
  grown_by_ = 0;
  head_state_ = Head::kNone;
  head_ends_ = data_began_ = data_ended_ = has_trailers_ = local_ended_ = false;
  queue_.clear();
  queue_front_ = queued_bytes_ = 0;
  stalled_checks_ = 0;
  head_at_ = UINT64_MAX;
}

}  // namespace levee::h2
