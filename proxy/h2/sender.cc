// SPDX-License-Identifier: Apache-2.0
#include "h2/sender.h"

#include <algorithm>

namespace levee::h2 {

using Queue = StreamSet::Queue;

// Puts the stream into the queue of those that have something to send. A stream without a head has
// not, even if data is queued.
void Sender::OnQueued(Stream& stream) {
  if (stream.local_ == Stream::Local::kNoHead || link_.broken() || ends_.Excluded(stream)) return;
  if (link_.server() && link_.streams.queued_bytes() > output_bytes_) {
    link_.Exceed(SessionLimit::kOutput);
    return link_.Announce();  // The GOAWAY is to be sent, and nothing of the streams any more.
  }
  link_.streams.Move(stream, Queue::kReady);
  link_.Announce();
}

bool Sender::GrowConnectionWindow(int64_t bytes) {
  if (!window_.Grow(bytes)) return false;
  while (!link_.broken() && window_.bytes() > 0) {
    Stream* starved = link_.streams.First(Queue::kStarved);
    if (starved == nullptr) break;
    OnQueued(*starved);
  }
  return true;
}

bool Sender::GrowStreamWindow(Stream& stream, int64_t bytes) {
  if (!stream.send_window_.Grow(bytes)) return false;
  if (stream.queue_.bytes() > 0) OnQueued(stream);
  return true;
}

// RFC 9113, section 6.9.2: the windows of open streams change too, and may become negative.
bool Sender::GrowStreamWindows(int64_t bytes) {
  if (bytes == 0) return true;
  bool overflow = false;
  link_.streams.ForEach([&](Stream& stream) { overflow |= !stream.send_window_.Grow(bytes); });
  if (overflow) return false;
  if (bytes < 0) return true;
  link_.streams.ForEachOf(Queue::kQuiet, [&](Stream& stream) {
    if (stream.queue_.bytes() > 0) OnQueued(stream);
  });
  return true;
}

bool Sender::DrainHeld(OutputBuffer& out) {
  if (!link_.writer.holds()) return true;
  if (!link_.writer.Drain(out)) return false;
  link_.guard.OnRepliesSent();
  return true;
}

bool Sender::Serialize(OutputBuffer& out) {
  link_.OnSerializeBegins();
  bool room = true;
  while (room && DrainHeld(out) && !link_.broken()) {
    Stream* stream = link_.streams.First(Queue::kReady);
    if (stream == nullptr) break;
    const Written written = Write(*stream, out);
    if (written == Written::kNoRoom) room = false;
    if (stream->retired_ || written == Written::kNoRoom || written == Written::kHeld) continue;
    link_.streams.Move(*stream, written == Written::kAll      ? Queue::kQuiet
                                : written == Written::kWindow ? Queue::kStarved
                                                              : Queue::kReady);
  }
  const bool more = !room || !DrainHeld(out);
  link_.OnSerializeEnds();
  return more;
}

Sender::Written Sender::Write(Stream& stream, OutputBuffer& out) {
  if (stream.local_ == Stream::Local::kHeadQueued) {
    if (!WriteHead(stream, out)) return Written::kNoRoom;
    if (link_.writer.holds()) return Written::kHeld;
    if (stream.retired_) return Written::kAll;
  }
  if (stream.queue_.bytes() > 0) {
    const Written written = WriteData(stream, out);
    if (stream.retired_ || written != Written::kItsShare) return written;
    if (stream.queue_.bytes() > 0) return Written::kItsShare;
  }
  if (stream.last_ == Stream::Last::kUnknown || stream.local_ == Stream::Local::kEnded)
    return Written::kAll;
  if (stream.last_ == Stream::Last::kTrailers) {
    if (!WriteBlock(stream.trailers_, stream.id_, /*end=*/true, out)) return Written::kNoRoom;
  } else {
    if (out.room() < kFrameHeadBytes) return Written::kNoRoom;
    link_.writer.WriteDataHead(0, stream.id_, /*end=*/true, out);
  }
  ends_.OnLocalEnd(stream);
  return Written::kAll;
}

bool Sender::WriteHead(Stream& stream, OutputBuffer& out) {
  const bool client = link_.client();
  if (client &&
      static_cast<int64_t>(link_.streams.size_with_id()) >= link_.peer_settings.max_streams()) {
    // The peer now allows fewer streams than when this one was opened. Its head would have to wait
    // until other streams end, and for ever if the peer allows none.
    ends_.Drop(stream);
    return true;
  }
  // A stream gets its id when its head leaves, so that ids go up in the order of the heads.
  const uint32_t id = client ? link_.ids.next() : stream.id_;
  const uint64_t at = link_.writer.written();
  const bool ends = stream.last_ == Stream::Last::kHead;
  if (!WriteBlock(stream.head_, id, ends, out)) return false;
  stream.head_at_ = at;
  stream.local_ = Stream::Local::kHeadSent;
  if (client) {
    link_.streams.SetId(stream, id);
    link_.ids.Use(id);
  }
  if (ends) ends_.OnLocalEnd(stream);
  return true;
}

Sender::Written Sender::WriteData(Stream& stream, OutputBuffer& out) {
  if (stream.send_window_.bytes() <= 0) return Written::kAll;
  if (window_.bytes() <= 0) return Written::kWindow;
  const auto window = static_cast<size_t>(std::min(stream.send_window_.bytes(), window_.bytes()));
  const size_t size = std::min({stream.queue_.bytes(), window, kMaxFrameBytes});
  if (out.room() < kFrameHeadBytes + size) return Written::kNoRoom;
  const bool last = size == stream.queue_.bytes() && stream.last_ == Stream::Last::kBody;
  link_.writer.WriteDataHead(size, stream.id_, last, out);
  stream.queue_.MoveTo(out, size);
  stream.body_began_ = true;
  stream.stalled_checks_ = 0;
  stream.send_window_.Take(size);
  window_.Take(size);
  body_bytes_ += size;
  link_.streams.SubtractQueued(size);
  link_.guard.OnBodySent(size, window);
  if (stream.handler_ != nullptr) stream.handler_->OnSent(size);
  if (last && !stream.retired_) ends_.OnLocalEnd(stream);
  return Written::kItsShare;
}

bool Sender::WriteBlock(const Metadata& fields, uint32_t id, bool end, OutputBuffer& out) {
  if (!link_.writer.WriteBlock(fields, id, end, out)) return false;
  link_.guard.OnUsefulFrame();
  return true;
}

}  // namespace levee::h2
