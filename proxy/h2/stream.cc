// SPDX-License-Identifier: Apache-2.0
#include "h2/stream.h"

#include "base/check.h"
#include "h2/session.h"

namespace levee::h2 {

void Stream::SendHead(bool end) {
  LEVEE_CHECK(local_ == Local::kNoHead);
  local_ = Local::kHeadQueued;
  last_ = end ? Last::kHead : Last::kUnknown;
  session_->sender_.OnQueued(*this);
}

void Stream::SendData(const Chunk& data, bool end) {
  LEVEE_CHECK(last_ == Last::kUnknown);
  if (!data.empty()) {
    queue_.Append(data);
    session_->link_.streams.AddQueued(data.size());
  }
  if (end) last_ = Last::kBody;
  session_->sender_.OnQueued(*this);
}

void Stream::SendTrailers() {
  LEVEE_CHECK(last_ == Last::kUnknown);
  last_ = Last::kTrailers;
  session_->sender_.OnQueued(*this);
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
  retired_ = oversized_ = body_began_ = false;
  remote_ = Remote::kHead;
  body_left_ = -1;
  grown_by_ = 0;
  local_ = Local::kNoHead;
  last_ = Last::kUnknown;
  queue_.Clear();
  stalled_checks_ = 0;
  head_at_ = UINT64_MAX;
}

}  // namespace levee::h2
