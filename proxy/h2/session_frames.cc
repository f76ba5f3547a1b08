// The frames of a session that carry neither heads nor bodies.
#include <algorithm>
#include <utility>

#include "h2/session.h"
#include "wire/status.h"

namespace levee::h2 {

bool Session::IsIdle(uint32_t id) const { return id % 2 == 0 || id >= next_id_; }

// Such frames may have been on their way when this side ended the stream.
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
  if (head.stream_id == 0 || IsIdle(head.stream_id)) {
    return Fail(kResetProtocolError, "RST_STREAM on a stream that is not open");
  }
  Stream* stream = table_.Find(head.stream_id);
  if (stream == nullptr) {
    CountControlFrame();
    return;
  }
  const uint32_t error_code = ReadUint32(payload.data());
  CountReset(*stream);
  if (role_ == Role::kServer) closed_.Add(head.stream_id, ClosedStreams::By::kPeer);
  // An answer that is complete, and RST_STREAM behind it because the rest of the request is not
  // wanted (RFC 9113, section 8.1).
  const bool complete = error_code == kResetNoError && stream->remote_ended_;
  Close(*stream, {.cause = complete ? StreamEnd::Cause::kComplete : StreamEnd::Cause::kReset,
                  .error_code = error_code});
}

void Session::OnSettings(const FrameHead& head, ByteSpan payload) {
  constexpr size_t kEntryBytes = 6;
  if (head.stream_id != 0) return Fail(kResetProtocolError, "SETTINGS on a stream");
  const bool ack = head.Has(kFlagAck);
  if (payload.size() % kEntryBytes != 0 || (ack && !payload.empty())) {
    return Fail(kResetFrameSizeError, "SETTINGS of a wrong size");
  }
  if (!CountControlFrame() || !CountControlFrame(settings_)) return;
  if (ack) return OnSettingsAck();
  if (!settings_received_) stream_limit_ = UINT32_MAX;  // Unless they say otherwise.
  int64_t window = stream_send_window_;
  for (; !payload.empty() && !broken_; payload = payload.subspan(kEntryBytes)) {
    const auto setting = static_cast<Setting>(payload[0] << 8 | payload[1]);
    const uint32_t value = ReadUint32(payload.data() + 2);
    if (setting == Setting::kInitialWindowSize && value <= kMaxWindowBytes) {
      window = value;  // A frame may say it a thousand times: only the last counts.
    } else {
      Apply(setting, value);
    }
  }
  if (!broken_) ApplyInitialWindow(window);
  if (broken_) return;
  settings_received_ = true;
  Hold(0, FrameType::kSettings, kFlagAck, 0);
  CountReply();
  if (role_ == Role::kClient) handler_.OnSlotsFree();
}

// A peer that has not read this side's SETTINGS may go by the larger of its own idea and theirs.
void Session::OnSettingsAck() {
  if (std::exchange(settings_acknowledged_, true)) return;
  const int64_t change = int64_t{options_.stream_window_bytes} - stream_receive_window_;
  stream_receive_window_ += change;
  table_.ForEach([&](Stream& stream) { stream.receive_window_ += change; });
}

void Session::Apply(Setting setting, uint32_t value) {
  switch (setting) {
    case Setting::kHeaderTableSize:
      return encoder_.SetMaxTableBytes(value);
    case Setting::kEnablePush:
      if (value > (role_ == Role::kClient ? 0u : 1u)) Fail(kResetProtocolError, "ENABLE_PUSH");
      return;
    case Setting::kMaxConcurrentStreams:
      stream_limit_ = value;
      return;
    case Setting::kInitialWindowSize:
      return Fail(kResetFlowControlError, "INITIAL_WINDOW_SIZE");
    case Setting::kMaxFrameSize:
      if (value < kMaxFrameBytes || value >= 1u << 24) Fail(kResetProtocolError, "MAX_FRAME_SIZE");
      return;
    default:
      return;
  }
}

// RFC 9113, section 6.9.2: the windows of open streams move too, and may become negative.
void Session::ApplyInitialWindow(int64_t bytes) {
  const int64_t change = bytes - stream_send_window_;
  if (change == 0) return;
  stream_send_window_ = bytes;
  bool overflow = false;
  for (IntrusiveList<Stream>* list : {&quiet_, &ready_, &starved_}) {
    list->ForEach([&](Stream& stream) {
      stream.send_window_ += change;
      overflow = overflow || stream.send_window_ > kMaxWindowBytes;
    });
  }
  if (overflow) return Fail(kResetFlowControlError, "INITIAL_WINDOW_SIZE overflows a window");
  if (change <= 0) return;
  quiet_.ForEach([&](Stream& stream) {
    if (stream.queued_bytes_ > 0) Ready(stream);
  });
}

void Session::OnPing(const FrameHead& head, ByteSpan payload) {
  if (head.stream_id != 0) return Fail(kResetProtocolError, "PING on a stream");
  if (payload.size() != 8) return Fail(kResetFrameSizeError, "PING is not 8 bytes");
  if (!CountControlFrame() || head.Has(kFlagAck)) return;
  std::copy(payload.begin(), payload.end(), Hold(8, FrameType::kPing, kFlagAck, 0));
  CountReply();
}

void Session::OnGoaway(const FrameHead& head, ByteSpan payload) {
  if (head.stream_id != 0) return Fail(kResetProtocolError, "GOAWAY on a stream");
  if (payload.size() < 8) return Fail(kResetFrameSizeError, "GOAWAY is too short");
  if (!CountControlFrame()) return;
  const uint32_t last_id = ReadUint32(payload.data()) & kMaxStreamId;
  const std::string_view text(reinterpret_cast<const char*>(payload.data()) + 8,
                              payload.size() - 8);
  goaway_received_ = true;
  goaway_last_id_ = std::min(goaway_last_id_, last_id);
  too_many_pings_ = too_many_pings_ || (ReadUint32(payload.data() + 4) == kResetEnhanceYourCalm &&
                                        text == "too_many_pings");
  if (role_ == Role::kServer) return;
  handler_.OnGoaway();
  EndExcluded();
}

// Those without an id have not left, and do not leave any more.
bool Session::Excluded(const Stream& stream) const {
  return role_ == Role::kClient && goaway_received_ &&
         (stream.id_ == 0 || stream.id_ > goaway_last_id_);
}

void Session::EndExcluded() {
  IntrusiveList<Stream> excluded;
  for (IntrusiveList<Stream>* list : {&quiet_, &ready_, &starved_}) {
    list->ForEach([&](Stream& stream) {
      if (!Excluded(stream)) return;
      stream.Unlink();
      excluded.PushBack(stream);
    });
  }
  // What is told of one stream can end others, too.
  while (Stream* stream = excluded.PopFront()) {
    Close(*stream, {.cause = StreamEnd::Cause::kExcluded});
  }
}

void Session::OnWindowUpdate(const FrameHead& head, ByteSpan payload) {
  if (payload.size() != 4) return Fail(kResetFrameSizeError, "WINDOW_UPDATE is not 4 bytes");
  if (!CountControlFrame()) return;
  const uint32_t id = head.stream_id;
  const int64_t bytes = ReadUint32(payload.data()) & kMaxStreamId;
  if (id == 0) {
    send_window_ += bytes;
    if (bytes == 0) return Fail(kResetProtocolError, "WINDOW_UPDATE of 0");
    if (send_window_ > kMaxWindowBytes) return Fail(kResetFlowControlError, "the window overflows");
    while (!starved_.empty() && send_window_ > 0) Ready(starved_.Front());
    return;
  }
  if (IsIdle(id)) return Fail(kResetProtocolError, "WINDOW_UPDATE on a stream that is not open");
  Stream* stream = table_.Find(id);
  if (stream == nullptr) return;
  stream->send_window_ += bytes;
  if (bytes == 0) return FailStream(*stream, kResetProtocolError, "WINDOW_UPDATE of 0");
  if (stream->send_window_ > kMaxWindowBytes) {
    return FailStream(*stream, kResetFlowControlError, "the stream's window overflows");
  }
  if (stream->queued_bytes_ > 0) Ready(*stream);
}

}  // namespace levee::h2
