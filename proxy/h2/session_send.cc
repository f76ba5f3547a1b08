// The sending half of Session.
#include <algorithm>
#include <cstring>
#include <utility>

#include "h2/session.h"
#include "wire/status.h"

namespace levee::h2 {
namespace {

constexpr size_t kHeldKept = 1024;

}  // namespace

void Session::Dirty() {
  // What is queued during Serialize leaves with it.
  if (dirty_ || out_ != nullptr) return;
  dirty_ = true;
  output_.OnOutputPending();
}

// A stream without a head has nothing to send, whatever else is queued.
void Session::Ready(Stream& stream) {
  if (stream.head_state_ == Stream::Head::kNone || broken_ || Excluded(stream)) return;
  if (role_ == Role::kServer && queued_bytes_ > options_.output_bytes) {
    Exceed(SessionLimit::kOutput);
    return Dirty();  // For the GOAWAY; the streams send nothing any more.
  }
  stream.Unlink();
  ready_.PushBack(stream);
  Dirty();
}

uint8_t* Session::Hold(size_t payload, FrameType type, uint8_t flags, uint32_t id) {
  const size_t at = held_.size();
  held_.resize(at + kFrameHeadBytes + payload);
  return PutFrameHead(held_.data() + at, payload, type, flags, id);
}

void Session::HoldReset(uint32_t id, uint32_t error_code) {
  PutUint32(Hold(4, FrameType::kRstStream, 0, id), error_code);
}

void Session::HoldWindowUpdate(uint32_t id, uint32_t bytes) {
  PutUint32(Hold(4, FrameType::kWindowUpdate, 0, id), bytes);
}

void Session::HoldGoaway(uint32_t last_id, uint32_t error_code, std::string_view text) {
  uint8_t* to = Hold(8 + text.size(), FrameType::kGoaway, 0, 0);
  to = PutUint32(PutUint32(to, last_id), error_code);
  std::copy(text.begin(), text.end(), to);
}

void Session::HoldSettings() {
  const bool server = role_ == Role::kServer;
  const std::pair<Setting, uint32_t> settings[] = {
      {Setting::kInitialWindowSize, options_.stream_window_bytes},
      {Setting::kMaxHeaderListSize, static_cast<uint32_t>(options_.metadata_bytes)},
      {server ? Setting::kMaxConcurrentStreams : Setting::kEnablePush,
       server ? options_.max_concurrent_streams : 0},
      {Setting::kNoRfc7540Priorities, 1}};
  uint8_t* to = Hold(6 * std::size(settings), FrameType::kSettings, 0, 0);
  for (const auto& [setting, value] : settings) {
    *to++ = 0;
    *to++ = static_cast<uint8_t>(setting);
    to = PutUint32(to, value);
  }
}

bool Session::DrainHeld(OutputBuffer& out) {
  if (held_.empty()) return true;
  const size_t size = std::min(out.room(), held_.size() - held_sent_);
  std::memcpy(out.end(), held_.data() + held_sent_, size);
  Advance(out, size);
  held_sent_ += size;
  if (held_sent_ < held_.size()) return false;
  held_sent_ = held_replies_ = 0;
  if (held_.capacity() > kHeldKept) {
    held_ = {};
  } else {
    held_.clear();
  }
  return true;
}

bool Session::Serialize(OutputBuffer& out) {
  dirty_ = false;
  out_ = &out;
  bool room = true;
  while (room && DrainHeld(out) && !broken_ && !ready_.empty()) {
    Stream& stream = ready_.Front();
    const Written written = Write(stream, out);
    if (written == Written::kNoRoom) room = false;
    if (stream.retired_ || written == Written::kNoRoom || written == Written::kHeld) continue;
    stream.Unlink();
    (written == Written::kAll      ? quiet_
     : written == Written::kWindow ? starved_
                                   : ready_)
        .PushBack(stream);
  }
  const bool more = !room || !DrainHeld(out);
  out_ = nullptr;
  ReturnRetired();
  return more;
}

Session::Written Session::Write(Stream& stream, OutputBuffer& out) {
  if (stream.head_state_ == Stream::Head::kQueued) {
    if (!WriteHead(stream, out)) return Written::kNoRoom;
    if (!held_.empty()) return Written::kHeld;
    if (stream.retired_) return Written::kAll;
  }
  if (stream.queued_bytes_ > 0) {
    const Written written = WriteData(stream, out);
    if (stream.retired_ || written != Written::kItsShare) return written;
    if (stream.queued_bytes_ > 0) return Written::kItsShare;
  }
  if (!stream.data_ended_ || stream.local_ended_) return Written::kAll;
  if (stream.has_trailers_) {
    if (!WriteBlock(stream.trailers_, stream.id_, /*end=*/true, out)) return Written::kNoRoom;
  } else {
    if (out.room() < kFrameHeadBytes) return Written::kNoRoom;
    PutFrameHead(out.end(), 0, FrameType::kData, kFlagEndStream, stream.id_);
    Advance(out, kFrameHeadBytes);
  }
  LocalEnded(stream);
  return Written::kAll;
}

bool Session::WriteHead(Stream& stream, OutputBuffer& out) {
  const bool client = role_ == Role::kClient;
  if (client && static_cast<int64_t>(table_.size()) >= stream_limit_) {
    // The peer allows fewer streams than it did when this one was opened. Its head would wait until
    // others end, and for ever if the peer allows none.
    Close(stream, {.cause = StreamEnd::Cause::kLost});
    return true;
  }
  // A stream gets its id when its head leaves, so that ids go up in the order of the heads.
  const uint32_t id = client ? next_id_ : stream.id_;
  const uint64_t at = serialized_;
  if (!WriteBlock(stream.head_, id, stream.head_ends_, out)) return false;
  stream.head_at_ = at;
  stream.head_state_ = Stream::Head::kSent;
  if (client) {
    stream.id_ = id;
    next_id_ += 2;
    table_.Insert(stream);
  }
  if (stream.head_ends_) LocalEnded(stream);
  return true;
}

Session::Written Session::WriteData(Stream& stream, OutputBuffer& out) {
  if (stream.send_window_ <= 0) return Written::kAll;
  if (send_window_ <= 0) return Written::kWindow;
  const auto window = static_cast<size_t>(std::min(stream.send_window_, send_window_));
  const size_t size = std::min({stream.queued_bytes_, window, kMaxFrameBytes});
  if (out.room() < kFrameHeadBytes + size) return Written::kNoRoom;
  const bool last = size == stream.queued_bytes_ && stream.data_ended_ && !stream.has_trailers_;
  PutFrameHead(out.end(), size, FrameType::kData, last ? kFlagEndStream : uint8_t{0}, stream.id_);
  Advance(out, kFrameHeadBytes);
  stream.MoveQueued(size, out);
  serialized_ += size;
  stream.send_window_ -= static_cast<int64_t>(size);
  send_window_ -= static_cast<int64_t>(size);
  queued_bytes_ -= size;
  // A peer that opens its window byte by byte asks for frames that carry next to nothing.
  if (size < window || size >= kUsefulBytes) control_frames_.GiveBack(kControlFramesPerUseful);
  if (stream.handler_ != nullptr) stream.handler_->OnSent(size);
  if (last && !stream.retired_) LocalEnded(stream);
  return Written::kItsShare;
}

bool Session::WriteBlock(const Metadata& fields, uint32_t id, bool end, OutputBuffer& out) {
  const size_t bound = hpack::Encoder::Bound(fields);
  if (bound > kMaxFrameBytes) {
    HoldBlock(fields, id, end);
    return true;
  }
  if (out.room() < kFrameHeadBytes + bound) return false;
  const size_t size = encoder_.Encode(fields, out.end() + kFrameHeadBytes);
  const uint8_t flags = kFlagEndHeaders | (end ? kFlagEndStream : 0);
  PutFrameHead(out.end(), size, FrameType::kHeaders, flags, id);
  Advance(out, kFrameHeadBytes + size);
  control_frames_.GiveBack(kControlFramesPerUseful);
  return true;
}

void Session::HoldBlock(const Metadata& fields, uint32_t id, bool end) {
  std::vector<uint8_t> block(hpack::Encoder::Bound(fields));
  block.resize(encoder_.Encode(fields, block.data()));
  FrameType type = FrameType::kHeaders;
  uint8_t flags = end ? kFlagEndStream : 0;
  for (size_t at = 0; at < block.size();) {
    const size_t size = std::min(kMaxFrameBytes, block.size() - at);
    if (at + size == block.size()) flags |= kFlagEndHeaders;
    std::memcpy(Hold(size, type, flags, id), block.data() + at, size);
    at += size;
    type = FrameType::kContinuation;
    flags = 0;
  }
}

void Session::Advance(OutputBuffer& out, size_t bytes) {
  out.Advance(bytes);
  serialized_ += bytes;
}

void Session::LocalEnded(Stream& stream) {
  stream.local_ended_ = true;
  if (stream.remote_ended_) {
    if (role_ == Role::kServer) closed_.Add(stream.id_, ClosedStreams::By::kPeer);
    Close(stream, {.cause = StreamEnd::Cause::kComplete});
  } else if (role_ == Role::kServer) {
    // The answer is complete although the caller's half is open: it need not send the rest
    // (RFC 9113, section 8.1).
    HoldReset(stream.id_, kResetNoError);
    closed_.Add(stream.id_, ClosedStreams::By::kThisSide);
    Close(stream, {.cause = StreamEnd::Cause::kReset});
  }
}

// The connection's window is returned at once, so that one stream whose bytes wait for a slow
// reader holds up only itself; the stream's own window bounds what it can pile up.
void Session::CreditConnection(size_t bytes) {
  receive_credit_ += bytes;
  if (2 * receive_credit_ < options_.connection_window_bytes) return;
  HoldWindowUpdate(0, static_cast<uint32_t>(receive_credit_));
  receive_window_ += static_cast<int64_t>(receive_credit_);
  receive_credit_ = 0;
  Dirty();
}

void Session::CreditStream(Stream& stream, size_t bytes) {
  if (stream.remote_ended_ || stream.retired_) return;
  stream.receive_credit_ += bytes;
  if (stream.receive_credit_ == 0 || 2 * stream.receive_credit_ < options_.stream_window_bytes) {
    return;
  }
  HoldWindowUpdate(stream.id_, static_cast<uint32_t>(stream.receive_credit_));
  stream.receive_window_ += static_cast<int64_t>(stream.receive_credit_);
  stream.receive_credit_ = 0;
  Dirty();
}

}  // namespace levee::h2
