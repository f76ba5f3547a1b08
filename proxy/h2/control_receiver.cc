// SPDX-License-Identifier: Apache-2.0
#include "h2/control_receiver.h"

#include "wire/status.h"

namespace levee::h2 {

void ControlReceiver::OnFrame(const FrameHead& head, ByteSpan payload) {
  switch (static_cast<FrameType>(head.type)) {
    case FrameType::kRstStream:
      return OnRstStream(head, payload);
    case FrameType::kSettings:
      return OnSettings(head, payload);
    case FrameType::kPushPromise:
      // Neither side enables server push.
      return link_.Fail(kResetProtocolError, "PUSH_PROMISE");
    case FrameType::kPing:
      return OnPing(head, payload);
    case FrameType::kGoaway:
      return OnGoaway(head, payload);
    case FrameType::kWindowUpdate:
      return OnWindowUpdate(head, payload);
    case FrameType::kPriority:
      return OnPriority(head, payload);
    default:
      // RFC 9113, section 5.5: unknown frames are ignored.
      link_.CountControlFrame();
  }
}

void ControlReceiver::OnPriority(const FrameHead& head, ByteSpan payload) {
  // RFC 9113, section 5.3: priorities are not used any more.
  if (head.stream_id == 0) return link_.Fail(kResetProtocolError, "PRIORITY on stream 0");
  if (payload.size() != 5) return link_.Fail(kResetFrameSizeError, "PRIORITY is not 5 bytes");
  link_.CountControlFrame();
}

void ControlReceiver::OnRstStream(const FrameHead& head, ByteSpan payload) {
  if (payload.size() != 4) return link_.Fail(kResetFrameSizeError, "RST_STREAM is not 4 bytes");
  const uint32_t id = head.stream_id;
  if (link_.ids.IsIdle(id)) {
    if (link_.server() && id % 2 == 1) return ends_.OnResetOfIdleStream();
    return link_.Fail(kResetProtocolError, "RST_STREAM on a stream that is not open");
  }
  Stream* stream = link_.streams.Find(id);
  if (stream == nullptr) {
    link_.CountControlFrame();
    return;
  }
  ends_.OnReset(*stream, ReadUint32(payload.data()));
}

void ControlReceiver::OnSettings(const FrameHead& head, ByteSpan payload) {
  if (head.stream_id != 0) return link_.Fail(kResetProtocolError, "SETTINGS on a stream");
  const bool ack = head.Has(kFlagAck);
  if (payload.size() % PeerSettings::kEntryBytes != 0 || (ack && !payload.empty())) {
    return link_.Fail(kResetFrameSizeError, "SETTINGS of a wrong size");
  }
  if (!link_.guard.OnSettings(link_.now)) OnExcessSettings();
  if (link_.broken()) return;
  if (ack) return windows_.OnSettingsAck();
  const int64_t window = link_.peer_settings.initial_window();
  const PeerSettings::Fault fault = link_.peer_settings.Take(
      payload, [this](uint32_t bytes) { link_.writer.SetMaxTableBytes(bytes); });
  if (fault.what != nullptr) return link_.Fail(fault.error_code, fault.what);
  // A frame may set the initial window a thousand times. Only the last value is applied.
  if (!sender_.GrowStreamWindows(link_.peer_settings.initial_window() - window)) {
    return link_.Fail(kResetFlowControlError, "INITIAL_WINDOW_SIZE overflows a window");
  }
  if (link_.broken()) return;
  link_.writer.HoldSettingsAck();
  link_.CountReply();
  if (link_.client()) link_.handler.OnSlotsFree();
}

// An upstream's connection carries calls of many callers, so it takes no new ones at first. Calls
// in flight may finish, unless SETTINGS come so often that other connections would pay for them.
void ControlReceiver::OnExcessSettings() {
  if (link_.server() || !link_.guard.OnExcessSettings(link_.now)) {
    return link_.Exceed(SessionLimit::kControlFrames);
  }
  if (link_.peer_goaway.received()) return;
  link_.handler.OnLimit(SessionLimit::kControlFrames);
  link_.LeaveUnasked();
  ends_.EndExcluded();
}

void ControlReceiver::OnPing(const FrameHead& head, ByteSpan payload) {
  if (head.stream_id != 0) return link_.Fail(kResetProtocolError, "PING on a stream");
  if (payload.size() != 8) return link_.Fail(kResetFrameSizeError, "PING is not 8 bytes");
  if (!link_.CountControlFrame()) return;
  if (head.Has(kFlagAck)) return windows_.OnPingAck(payload);
  link_.writer.HoldPing(kFlagAck, payload);
  link_.CountReply();
}

void ControlReceiver::OnGoaway(const FrameHead& head, ByteSpan payload) {
  if (head.stream_id != 0) return link_.Fail(kResetProtocolError, "GOAWAY on a stream");
  if (payload.size() < PeerGoaway::kLeastBytes) {
    return link_.Fail(kResetFrameSizeError, "GOAWAY is too short");
  }
  if (!link_.CountControlFrame()) return;
  link_.peer_goaway.Take(payload);
  if (link_.server()) return;
  link_.handler.OnGoaway();
  ends_.EndExcluded();
}

void ControlReceiver::OnWindowUpdate(const FrameHead& head, ByteSpan payload) {
  if (payload.size() != 4) return link_.Fail(kResetFrameSizeError, "WINDOW_UPDATE is not 4 bytes");
  if (!link_.CountControlFrame()) return;
  const uint32_t id = head.stream_id;
  const int64_t bytes = ReadUint32(payload.data()) & kMaxStreamId;
  if (id == 0) {
    if (bytes == 0) return link_.Fail(kResetProtocolError, "WINDOW_UPDATE of 0");
    if (sender_.GrowConnectionWindow(bytes)) return;
    return link_.Fail(kResetFlowControlError, "the window overflows");
  }
  if (link_.ids.IsIdle(id)) {
    return link_.Fail(kResetProtocolError, "WINDOW_UPDATE on a stream that is not open");
  }
  Stream* stream = link_.streams.Find(id);
  if (stream == nullptr) return;
  if (bytes == 0) return ends_.Fail(*stream, kResetProtocolError, "WINDOW_UPDATE of 0");
  if (sender_.GrowStreamWindow(*stream, bytes)) return;
  ends_.Fail(*stream, kResetFlowControlError, "the stream's window overflows");
}

}  // namespace levee::h2
