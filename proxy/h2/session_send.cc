// SPDX-License-Identifier: Apache-2.0
// The sending half of Session.
#include <algorithm>
#include <cstring>
#include <utility>

#include "h2/session.h"
#include "wire/status.h"

namespace levee::h2 {

void Session::HoldSettings() {
  const bool server = role_ == Role::kServer;
  // Servers reset the stream of an answer that exceeds the offer, and do not say why. So they are
  // offered all that a header block may have, and this side says which answer is too large.
  const size_t list_bytes = server ? options_.metadata_bytes : options_.header_block_bytes;
  const FrameWriter::Entry entries[] = {
      {Setting::kInitialWindowSize, options_.stream_window_bytes},
      {Setting::kMaxHeaderListSize, static_cast<uint32_t>(list_bytes)},
      {server ? Setting::kMaxConcurrentStreams : Setting::kEnablePush,
       server ? options_.max_concurrent_streams : 0},
      {Setting::kNoRfc7540Priorities, 1}};
  writer_.HoldSettings(entries);
}

void Session::HoldStreamWindow() {
  const FrameWriter::Entry entry{Setting::kInitialWindowSize, wanted_stream_window_};
  writer_.HoldSettings({&entry, 1});
  offered_stream_window_ = wanted_stream_window_;
  settings_acknowledged_ = false;
  if (offered_stream_window_ > stream_receive_window_) ChangeReceiveWindows(offered_stream_window_);
  Dirty();
}

void Session::Dirty() {
  // Serialize itself takes the output that is queued while it runs.
  if (dirty_ || serializing_) return;
  dirty_ = true;
  output_.OnOutputPending();
}

// Puts the stream into the queue of those that have something to send. A stream without a head has
// not, even if data is queued.
void Session::Ready(Stream& stream) {
  if (stream.head_state_ == Stream::Head::kNone || broken_ || Excluded(stream)) return;
  if (role_ == Role::kServer && streams_.queued_bytes() > options_.output_bytes) {
    Exceed(SessionLimit::kOutput);
    return Dirty();  // The GOAWAY is to be sent, and nothing of the streams any more.
  }
  streams_.Move(stream, Queue::kReady);
  Dirty();
}

bool Session::DrainHeld(OutputBuffer& out) {
  if (!writer_.holds()) return true;
  if (!writer_.Drain(out)) return false;
  guard_.OnRepliesSent();
  return true;
}

bool Session::Serialize(OutputBuffer& out) {
  dirty_ = false;
  serializing_ = true;
  bool room = true;
  while (room && DrainHeld(out) && !broken_) {
    Stream* stream = streams_.First(Queue::kReady);
    if (stream == nullptr) break;
    const Written written = Write(*stream, out);
    if (written == Written::kNoRoom) room = false;
    if (stream->retired_ || written == Written::kNoRoom || written == Written::kHeld) continue;
    streams_.Move(*stream, written == Written::kAll      ? Queue::kQuiet
                           : written == Written::kWindow ? Queue::kStarved
                                                         : Queue::kReady);
  }
  const bool more = !room || !DrainHeld(out);
  serializing_ = false;
  ReturnRetired();
  return more;
}

Session::Written Session::Write(Stream& stream, OutputBuffer& out) {
  if (stream.head_state_ == Stream::Head::kQueued) {
    if (!WriteHead(stream, out)) return Written::kNoRoom;
    if (writer_.holds()) return Written::kHeld;
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
    writer_.WriteDataHead(0, stream.id_, /*end=*/true, out);
  }
  LocalEnded(stream);
  return Written::kAll;
}

bool Session::WriteHead(Stream& stream, OutputBuffer& out) {
  const bool client = role_ == Role::kClient;
  if (client && static_cast<int64_t>(streams_.size_with_id()) >= peer_settings_.max_streams()) {
    // The peer now allows fewer streams than when this one was opened. Its head would have to wait
    // until other streams end, and for ever if the peer allows none.
    Close(stream, {.cause = StreamEnd::Cause::kLost});
    return true;
  }
  // A stream gets its id when its head leaves, so that ids go up in the order of the heads.
  const uint32_t id = client ? next_id_ : stream.id_;
  const uint64_t at = writer_.written();
  if (!WriteBlock(stream.head_, id, stream.head_ends_, out)) return false;
  stream.head_at_ = at;
  stream.head_state_ = Stream::Head::kSent;
  if (client) {
    streams_.SetId(stream, id);
    next_id_ += 2;
  }
  if (stream.head_ends_) LocalEnded(stream);
  return true;
}

Session::Written Session::WriteData(Stream& stream, OutputBuffer& out) {
  if (stream.send_window_.bytes() <= 0) return Written::kAll;
  if (send_window_.bytes() <= 0) return Written::kWindow;
  const auto window =
      static_cast<size_t>(std::min(stream.send_window_.bytes(), send_window_.bytes()));
  const size_t size = std::min({stream.queued_bytes_, window, kMaxFrameBytes});
  if (out.room() < kFrameHeadBytes + size) return Written::kNoRoom;
  const bool last = size == stream.queued_bytes_ && stream.data_ended_ && !stream.has_trailers_;
  writer_.WriteDataHead(size, stream.id_, last, out);
  stream.MoveQueued(size, out);
  stream.data_began_ = true;
  stream.stalled_checks_ = 0;
  stream.send_window_.Take(size);
  send_window_.Take(size);
  body_bytes_ += size;
  streams_.SubtractQueued(size);
  guard_.OnBodySent(size, window);
  if (stream.handler_ != nullptr) stream.handler_->OnSent(size);
  if (last && !stream.retired_) LocalEnded(stream);
  return Written::kItsShare;
}

bool Session::WriteBlock(const Metadata& fields, uint32_t id, bool end, OutputBuffer& out) {
  if (!writer_.WriteBlock(fields, id, end, out)) return false;
  guard_.OnUsefulFrame();
  return true;
}

void Session::LocalEnded(Stream& stream) {
  stream.local_ended_ = true;
  if (stream.remote_ended_) {
    if (role_ == Role::kServer) closed_.Add(stream.id_, ClosedStreams::By::kPeer);
    Close(stream, {.cause = StreamEnd::Cause::kComplete});
  } else if (role_ == Role::kServer) {
    // The answer is complete although the request is not. The caller need not send the rest of it
    // (RFC 9113, section 8.1).
    writer_.HoldReset(stream.id_, kResetNoError);
    closed_.Add(stream.id_, ClosedStreams::By::kThisSide);
    Close(stream, {.cause = StreamEnd::Cause::kReset});
  }
}

// Returns the connection's window at once, so that a stream whose bytes wait for a slow reader does
// not stop other streams. The stream's own window bounds the number of its waiting bytes.
void Session::CreditConnection(size_t bytes) {
  if (!receive_window_.Credit(bytes)) return;
  const uint32_t update = receive_window_.Update(options_.connection_window_bytes);
  if (update == 0) return;
  writer_.HoldWindowUpdate(0, update);
  Dirty();
}

// How large the window of the stream should be from now on.
int64_t Session::WholeWindow(Stream& stream) {
  const int64_t more = growth_.window() - int64_t{options_.stream_window_bytes};
  if (more > 0) stream.grown_by_ = streams_.pool().Grow(stream.grown_by_, more);
  return stream_receive_window_ + stream.grown_by_;
}

void Session::CreditStream(Stream& stream, size_t bytes) {
  if (stream.remote_ended_ || stream.retired_ || !stream.receive_window_.Credit(bytes)) return;
  const uint32_t update = stream.receive_window_.Update(WholeWindow(stream));
  if (update == 0) return;
  growth_.OnAllowed(stream.id_, update);
  writer_.HoldWindowUpdate(stream.id_, update);
  Dirty();
}

}  // namespace levee::h2
