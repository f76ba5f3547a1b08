#include "h2/session.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/check.h"
#include "wire/status.h"

namespace levee::h2 {
namespace {

// What a peer is told with ENHANCE_YOUR_CALM.
std::string_view TextOf(SessionLimit limit) {
  switch (limit) {
    case SessionLimit::kHeaderBlock:
      return "header block too long";
    case SessionLimit::kResets:
      return "too many resets";
    case SessionLimit::kControlFrames:
      return "too many frames that carry nothing";
    case SessionLimit::kPendingFrames:
      return "too many answers unread";
    case SessionLimit::kOutput:
      return "too much body unread";
    case SessionLimit::kStreams:
    case SessionLimit::kMetadataBytes:
    case SessionLimit::kMetadataFields:
      break;  // These end no connection.
  }
  return "";
}

}  // namespace

Session::Session(Role role, const Options& options, SessionHandler& handler, OutputHandler& output,
                 StreamPool& pool)
    : role_(role),
      options_(options),
      handler_(handler),
      output_(output),
      pool_(pool),
      preface_left_(role == Role::kServer ? kPreface.size() : 0),
      rules_(options.metadata_fields, options.metadata_bytes),
      receive_window_(std::max<int64_t>(options.connection_window_bytes, kInitialWindowBytes)),
      stream_receive_window_(std::max<int64_t>(options.stream_window_bytes, kInitialWindowBytes)),
      resets_(options.resets_per_second, 2 * options.resets_per_second),
      control_frames_(options.control_frames_per_second, 10 * options.control_frames_per_second),
      settings_(kSettingsPerSecond, 10 * kSettingsPerSecond) {
  if (role == Role::kClient) held_.assign(kPreface.begin(), kPreface.end());
  HoldSettings();
  const int64_t more = receive_window_ - kInitialWindowBytes;
  if (more > 0) HoldWindowUpdate(0, static_cast<uint32_t>(more));
}

Session::~Session() {
  for (IntrusiveList<Stream>* list : {&quiet_, &ready_, &starved_, &retired_}) {
    while (Stream* stream = list->PopFront()) pool_.Return(stream);
  }
}

int Session::FreeSlots() const {
  if (goaway_received_ || broken_) return 0;
  const auto open = static_cast<int64_t>(stream_count_);
  const int64_t ids =
      (int64_t{kMaxStreamId} - next_id_) / 2 + 1 - (open - static_cast<int64_t>(table_.size()));
  return static_cast<int>(std::clamp<int64_t>(std::min(stream_limit_ - open, ids), 0, INT32_MAX));
}

Stream& Session::Open(StreamHandler& handler) {
  LEVEE_CHECK(role_ == Role::kClient);
  return NewStream(&handler);
}

Stream& Session::NewStream(StreamHandler* handler) {
  Stream* stream = pool_.Take();
  stream->session_ = this;
  stream->handler_ = handler;
  stream->receive_window_ = stream_receive_window_;
  stream->send_window_ = stream_send_window_;
  quiet_.PushBack(*stream);
  ++stream_count_;
  return *stream;
}

void Session::ResetStream(Stream& stream, uint32_t error_code) {
  stream.handler_ = nullptr;
  if (stream.head_state_ == Stream::Head::kSent || role_ == Role::kServer) {
    HoldReset(stream.id_, error_code);
  }
  if (role_ == Role::kServer) closed_.Add(stream.id_, ClosedStreams::By::kThisSide);
  slots_free_ = role_ == Role::kClient;
  Retire(stream);
  Dirty();
}

void Session::Close(Stream& stream, StreamEnd end) {
  end.left = stream.head_state_ == Stream::Head::kSent;
  Retire(stream);
  if (stream.handler_ != nullptr) std::exchange(stream.handler_, nullptr)->OnClosed(end);
  if (role_ == Role::kClient) handler_.OnSlotsFree();
}

// The object stays until nothing on the call stack can refer to it.
void Session::Retire(Stream& stream) {
  LEVEE_CHECK(!stream.retired_);
  stream.retired_ = true;
  stream.Unlink();
  retired_.PushBack(stream);
  if (stream.id_ != 0) table_.Erase(stream);
  queued_bytes_ -= stream.queued_bytes_;
  --stream_count_;
}

void Session::ReturnRetired() {
  while (Stream* stream = retired_.PopFront()) pool_.Return(stream);
  if (std::exchange(slots_free_, false)) handler_.OnSlotsFree();
  if (role_ == Role::kClient && next_id_ > kMaxStreamId && !goaway_received_) {
    // The stream ids are used up (after 2^30 calls): the connection is as good as told to go.
    goaway_received_ = true;
    Shutdown();
    handler_.OnGoaway();
  }
}

void Session::AnnounceShutdown() {
  HoldGoaway(kMaxStreamId, kResetNoError, "");
  Dirty();
}

void Session::Shutdown() {
  goaway_sent_ = true;
  HoldGoaway(processed_id_, kResetNoError, "");
  Dirty();
}

void Session::SendPing() {
  std::fill_n(Hold(8, FrameType::kPing, 0, 0), 8, uint8_t{0});
  Dirty();
}

void Session::ConnectionLost(uint64_t written) {
  broken_ = true;
  for (IntrusiveList<Stream>* list : {&quiet_, &ready_, &starved_}) {
    while (Stream* stream = list->PopFront()) {
      const StreamEnd end = {.cause = StreamEnd::Cause::kLost, .left = stream->head_at_ < written};
      Retire(*stream);
      if (stream->handler_ != nullptr) std::exchange(stream->handler_, nullptr)->OnClosed(end);
    }
  }
}

bool Session::Done() const {
  return broken_ || (stream_count_ == 0 && (goaway_sent_ || goaway_received_) && held_.empty());
}

void Session::Fail(uint32_t error_code, const char* what) {
  if (std::exchange(broken_, true)) return;
  HoldGoaway(processed_id_, error_code, what);
  handler_.OnProtocolError(what);
}

void Session::Exceed(SessionLimit limit) {
  if (std::exchange(broken_, true)) return;
  HoldGoaway(processed_id_, kResetEnhanceYourCalm, TextOf(limit));
  handler_.OnLimit(limit);
}

void Session::FailStream(Stream& stream, uint32_t error_code, const char* what) {
  handler_.OnProtocolError(what);
  Refuse(stream, error_code);
}

void Session::Refuse(Stream& stream, uint32_t error_code) {
  CountReset(stream);
  CountReply();
  HoldReset(stream.id_, error_code);
  if (role_ == Role::kServer) closed_.Add(stream.id_, ClosedStreams::By::kThisSide);
  Close(stream, {.cause = StreamEnd::Cause::kReset, .error_code = error_code});
}

// RFC 9113, section 10.5, and CVE-2023-44487: a call that is taken back at once costs its caller
// nothing and this side a lot. Cancelling an answer that has begun is honest.
void Session::CountReset(const Stream& stream) {
  if (role_ == Role::kServer && stream.head_state_ == Stream::Head::kNone && !resets_.Take(now_)) {
    Exceed(SessionLimit::kResets);
  }
}

bool Session::CountControlFrame(RateGuard& guard) {
  if (!guard.Take(now_)) Exceed(SessionLimit::kControlFrames);
  return !broken_;
}

void Session::CountReply() {
  if (++held_replies_ > options_.pending_frames) Exceed(SessionLimit::kPendingFrames);
}

}  // namespace levee::h2
