// SPDX-License-Identifier: Apache-2.0
// The part of Session that takes the frames without heads and bodies.
#include <algorithm>
#include <utility>

#include "h2/session.h"
#include "wire/status.h"

namespace levee::h2 {
namespace {

// The payload of the PINGs that measure whether streams are bound by their windows.
constexpr uint8_t kWindowProbe[8] = {'w', 'i', 'n', 'd', 'o', 'w', 's', 0};

}  // namespace

bool Session::IsIdle(uint32_t id) const { return id % 2 == 0 || id >= next_id_; }

// A frame of a stream that this side has ended is no fault: it may have been on its way.
void Session::OnFrameOfClosedStream(uint32_t id) {
  if (role_ == Role::kServer && closed_.Find(id) == ClosedStreams::By::kPeer) {
    Fail(kResetStreamClosed, "a frame on a stream that the peer has ended");
  }
}

void Session::OnPriority(const FrameHead& head, ByteSpan payload) {
  // RFC 9113, section 5.3: priorities are not used any more.
  if (head.stream_id == 0) return Fail(kResetProtocolError, "PRIORITY on stream 0");
  if (payload.size() != 5) return Fail(kResetFrameSizeError, "PRIORITY is not 5 bytes");
  CountControlFrame();
}

void Session::OnRstStream(const FrameHead& head, ByteSpan payload) {
  if (payload.size() != 4) return Fail(kResetFrameSizeError, "RST_STREAM is not 4 bytes");
  if (role_ == Role::kServer && head.stream_id % 2 == 1 && IsIdle(head.stream_id)) {
    return OnResetOfIdleStream();
  }
  if (head.stream_id == 0 || IsIdle(head.stream_id)) {
    return Fail(kResetProtocolError, "RST_STREAM on a stream that is not open");
  }
  Stream* stream = streams_.Find(head.stream_id);
  if (stream == nullptr) {
    CountControlFrame();
    return;
  }
  const uint32_t error_code = ReadUint32(payload.data());
  CountReset(*stream);
  if (role_ == Role::kServer) closed_.Add(head.stream_id, ClosedStreams::By::kPeer);
  // The answer is complete. The server sent RST_STREAM after it because it does not want the rest
  // of the request (RFC 9113, section 8.1).
  const bool complete = error_code == kResetNoError && stream->remote_ended_;
  Close(*stream, {.cause = complete ? StreamEnd::Cause::kComplete : StreamEnd::Cause::kReset,
                  .error_code = error_code});
}

// RFC 9113, sections 5.1 and 6.4, makes this a fault of the connection. But older clients on gRPC's
// core (1.51, 1.62) send it for a call that ended before its HEADERS were written
// (grpc/grpc#19655), and all other calls of the connection would pay for that. It says no more than
// a call that was opened and cancelled, so it is counted as one. The id stays free: HEADERS of
// lower ids may still come.
void Session::OnResetOfIdleStream() {
  if (!guard_.OnReset(now_)) Exceed(SessionLimit::kResets);
}

void Session::OnSettings(const FrameHead& head, ByteSpan payload) {
  if (head.stream_id != 0) return Fail(kResetProtocolError, "SETTINGS on a stream");
  const bool ack = head.Has(kFlagAck);
  if (payload.size() % PeerSettings::kEntryBytes != 0 || (ack && !payload.empty())) {
    return Fail(kResetFrameSizeError, "SETTINGS of a wrong size");
  }
  if (!guard_.OnSettings(now_)) OnExcessSettings();
  if (broken_) return;
  if (ack) return OnSettingsAck();
  const int64_t window = peer_settings_.initial_window();
  const PeerSettings::Fault fault =
      peer_settings_.Take(payload, [this](uint32_t bytes) { writer_.SetMaxTableBytes(bytes); });
  if (fault.what != nullptr) return Fail(fault.error_code, fault.what);
  // A frame may set the initial window a thousand times. Only the last value is applied.
  ChangeSendWindows(peer_settings_.initial_window() - window);
  if (broken_) return;
  writer_.HoldSettingsAck();
  CountReply();
  if (role_ == Role::kClient) handler_.OnSlotsFree();
}

// An upstream's connection carries calls of many callers, so it takes no new ones at first. Calls
// in flight may finish, unless SETTINGS come so often that other connections would pay for them.
void Session::OnExcessSettings() {
  if (role_ == Role::kServer || !guard_.OnExcessSettings(now_)) {
    return Exceed(SessionLimit::kControlFrames);
  }
  if (peer_goaway_.received()) return;
  handler_.OnLimit(SessionLimit::kControlFrames);
  peer_goaway_.Assume();
  Shutdown();
  handler_.OnGoaway();
  EndExcluded();
}

// Until the peer has read this side's SETTINGS, it may use the window of before or that of the
// SETTINGS, whichever is larger.
void Session::OnSettingsAck() {
  if (std::exchange(settings_acknowledged_, true)) return;
  ChangeReceiveWindows(offered_stream_window_);
  if (wanted_stream_window_ != offered_stream_window_) HoldStreamWindow();
}

void Session::ChangeReceiveWindows(int64_t bytes) {
  const int64_t change = bytes - stream_receive_window_;
  stream_receive_window_ = bytes;
  streams_.ForEach([&](Stream& stream) {
    stream.receive_window_.Change(change);
    // The peer may have nothing left of a smaller window although all of its bytes were processed.
    CreditStream(stream, 0);
  });
}

// RFC 9113, section 6.9.2: the windows of open streams change too, and may become negative.
void Session::ChangeSendWindows(int64_t change) {
  if (change == 0) return;
  bool overflow = false;
  streams_.ForEach([&](Stream& stream) { overflow |= !stream.send_window_.Grow(change); });
  if (overflow) return Fail(kResetFlowControlError, "INITIAL_WINDOW_SIZE overflows a window");
  if (change < 0) return;
  streams_.ForEachOf(Queue::kQuiet, [&](Stream& stream) {
    if (stream.queued_bytes_ > 0) Ready(stream);
  });
}

void Session::OnPing(const FrameHead& head, ByteSpan payload) {
  if (head.stream_id != 0) return Fail(kResetProtocolError, "PING on a stream");
  if (payload.size() != 8) return Fail(kResetFrameSizeError, "PING is not 8 bytes");
  if (!CountControlFrame()) return;
  if (head.Has(kFlagAck)) {
    if (std::equal(payload.begin(), payload.end(), kWindowProbe)) OnProbeAnswer();
    return;
  }
  writer_.HoldPing(kFlagAck, payload);
  CountReply();
}

// The peer has used half of the window of `stream`.
void Session::ProbeWindow(const Stream& stream) {
  growth_.OnProbe(now_, stream.id_, stream.receive_window_.bytes());
  writer_.HoldPing(0, kWindowProbe);
  Dirty();
}

void Session::OnProbeAnswer() {
  const uint32_t id = growth_.stream();
  if (id == 0) return;
  const Stream* stream = streams_.Find(id);
  if (stream == nullptr || stream->remote_ended_) return growth_.OnLateAnswer(now_);
  growth_.OnAnswer(now_, stream->receive_window_.bytes(), stream->receive_window_.waiting());
}

void Session::OnGoaway(const FrameHead& head, ByteSpan payload) {
  if (head.stream_id != 0) return Fail(kResetProtocolError, "GOAWAY on a stream");
  if (payload.size() < PeerGoaway::kLeastBytes)
    return Fail(kResetFrameSizeError, "GOAWAY is too short");
  if (!CountControlFrame()) return;
  peer_goaway_.Take(payload);
  if (role_ == Role::kServer) return;
  handler_.OnGoaway();
  EndExcluded();
}

bool Session::Excluded(const Stream& stream) const {
  return role_ == Role::kClient && peer_goaway_.Excludes(stream.id_);
}

bool Session::MayAnswer() {
  bool may_answer = false;
  streams_.ForEach([&](const Stream& stream) { may_answer = may_answer || !Excluded(stream); });
  return may_answer;
}

void Session::EndExcluded() {
  IntrusiveList<Stream> excluded;
  streams_.ForEach([&](Stream& stream) {
    if (!Excluded(stream)) return;
    stream.Unlink();
    excluded.PushBack(stream);
  });
  // The handler of one stream's event may end other streams.
  while (Stream* stream = excluded.PopFront()) {
    Close(*stream, {.cause = StreamEnd::Cause::kExcluded, .goaway = peer_goaway_.text()});
  }
}

void Session::OnWindowUpdate(const FrameHead& head, ByteSpan payload) {
  if (payload.size() != 4) return Fail(kResetFrameSizeError, "WINDOW_UPDATE is not 4 bytes");
  if (!CountControlFrame()) return;
  const uint32_t id = head.stream_id;
  const int64_t bytes = ReadUint32(payload.data()) & kMaxStreamId;
  if (id == 0) {
    const bool fits = send_window_.Grow(bytes);
    if (bytes == 0) return Fail(kResetProtocolError, "WINDOW_UPDATE of 0");
    if (!fits) return Fail(kResetFlowControlError, "the window overflows");
    while (!broken_ && send_window_.bytes() > 0) {
      Stream* starved = streams_.First(Queue::kStarved);
      if (starved == nullptr) break;
      Ready(*starved);
    }
    return;
  }
  if (IsIdle(id)) return Fail(kResetProtocolError, "WINDOW_UPDATE on a stream that is not open");
  Stream* stream = streams_.Find(id);
  if (stream == nullptr) return;
  const bool fits = stream->send_window_.Grow(bytes);
  if (bytes == 0) return FailStream(*stream, kResetProtocolError, "WINDOW_UPDATE of 0");
  if (!fits) return FailStream(*stream, kResetFlowControlError, "the stream's window overflows");
  if (stream->queued_bytes_ > 0) Ready(*stream);
}

}  // namespace levee::h2
