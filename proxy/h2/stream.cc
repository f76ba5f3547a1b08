#include "h2/stream.h"

#include <nghttp2/nghttp2.h>

#include <algorithm>
#include <cstring>

#include "base/check.h"
#include "h2/session.h"

namespace levee::h2 {
namespace {

constexpr size_t kSentChunksKept = 64;

}  // namespace

void Stream::SendHead(bool end) {
  session_->SubmitHeaders(*this, head_, end);
  data_ended_ = end;
}

void Stream::SendData(const Chunk& data, bool end) {
  LEVEE_CHECK(!data_ended_);
  if (!data.empty()) {
    // The chunk in front may be on its way already, in part.
    AppendChunk(queue_, data, /*keep_last=*/queue_.size() == queue_front_ + 1 && front_sent_ > 0);
    queued_bytes_ += data.size();
  }
  data_ended_ = end;
  SendRest();
}

void Stream::SendTrailers() {
  LEVEE_CHECK(!data_ended_);
  data_ended_ = has_trailers_ = true;
  SendRest();
}

void Stream::SubmitTrailers() {
  trailers_submitted_ = true;
  session_->SubmitHeaders(*this, trailers_, /*end=*/true);
}

void Stream::SendRest() {
  // While nghttp2 holds a data source, that one goes on with the queue. A request's data has to
  // wait until nghttp2 knows the stream, which is when its HEADERS are serialised.
  if (sending_data_ || !open_ || trailers_submitted_) return;
  if (queued_bytes_ == 0 && has_trailers_) {
    SubmitTrailers();
  } else if (queued_bytes_ > 0 || data_ended_) {
    sending_data_ = true;
    session_->SubmitData(*this);
  }
}

void Stream::TakeQueued(size_t bytes, uint8_t* to) {
  queued_bytes_ -= bytes;
  while (bytes > 0) {
    Chunk& front = queue_[queue_front_];
    const size_t size = std::min(bytes, front.size() - front_sent_);
    std::memcpy(to, front.data() + front_sent_, size);
    to += size;
    bytes -= size;
    front_sent_ += size;
    if (front_sent_ < front.size()) break;
    front = Chunk();
    front_sent_ = 0;
    ++queue_front_;
  }
  // Sent chunks leave the vector in batches: a queue that is never quite empty must not grow.
  if (queue_front_ == queue_.size() || queue_front_ >= kSentChunksKept) {
    queue_.erase(queue_.begin(), queue_.begin() + static_cast<ptrdiff_t>(queue_front_));
    queue_front_ = 0;
  }
}

void Stream::Reset(uint32_t error_code) {
  handler_ = nullptr;
  nghttp2_submit_rst_stream(session_->session_, NGHTTP2_FLAG_NONE, id_, error_code);
  session_->Dirty();
}

void Stream::Credit(size_t bytes) {
  if (bytes == 0 || remote_ended_) return;
  nghttp2_session_consume_stream(session_->session_, id_, bytes);
  session_->Dirty();
}

void Stream::Recycle() {
  session_ = nullptr;
  handler_ = nullptr;
  id_ = 0;
  for (Metadata* fields : {&received_, &head_, &trailers_}) {
    fields->Clear();
    fields->Shrink();
  }
  head_received_ = remote_ended_ = oversized_ = false;
  queue_.clear();
  queue_front_ = front_sent_ = queued_bytes_ = 0;
  open_ = data_source_done_ = sending_data_ = data_ended_ = has_trailers_ = trailers_submitted_ =
      false;
  head_at_ = UINT64_MAX;
}

}  // namespace levee::h2
