// SPDX-License-Identifier: Apache-2.0
#include "h2/session.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/check.h"
#include "wire/first_bytes.h"
#include "wire/status.h"

namespace levee::h2 {
namespace {

// How many bytes of fields one byte of a header block may stand for, on average over the longest
// block. Honest blocks stay far below: Huffman coding makes 1.6 of one, and a reference stands for
// a field of some dozen bytes.
constexpr size_t kDecodedPerByte = 16;

// The text that is sent to a peer with ENHANCE_YOUR_CALM.
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
      break;  // These limits do not close the connection.
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
      streams_(pool),
      preface_left_(role == Role::kServer ? kHttp2Preface.size() : 0),
      assembly_(options.header_block_bytes),
      blocks_(options.metadata_fields, options.metadata_bytes,
              kDecodedPerByte * options.header_block_bytes),
      guard_(options),
      receive_window_(std::max<int64_t>(options.connection_window_bytes, kInitialWindowBytes)),
      stream_receive_window_(std::max<int64_t>(options.stream_window_bytes, kInitialWindowBytes)),
      offered_stream_window_(options.stream_window_bytes),
      wanted_stream_window_(options.stream_window_bytes),
      growth_(options.stream_window_bytes),
      peer_settings_(/*may_enable_push=*/role == Role::kServer) {
  if (role == Role::kClient) writer_.HoldPreface();
  HoldSettings();
  const int64_t more = receive_window_.bytes() - kInitialWindowBytes;
  if (more > 0) writer_.HoldWindowUpdate(0, static_cast<uint32_t>(more));
}

Session::~Session() = default;

int Session::FreeSlots() const {
  if (peer_goaway_.received() || broken_) return 0;
  const auto open = static_cast<int64_t>(streams_.size());
  const int64_t ids = (int64_t{kMaxStreamId} - next_id_) / 2 + 1 -
                      (open - static_cast<int64_t>(streams_.size_with_id()));
  return static_cast<int>(
      std::clamp<int64_t>(std::min(peer_settings_.max_streams() - open, ids), 0, INT32_MAX));
}

Stream& Session::Open(StreamHandler& handler) {
  LEVEE_CHECK(role_ == Role::kClient);
  return NewStream(&handler);
}

Stream& Session::NewStream(StreamHandler* handler) {
  Stream& stream = streams_.Add();
  stream.session_ = this;
  stream.handler_ = handler;
  stream.receive_window_ = ReceiveWindow(stream_receive_window_);
  stream.send_window_ = SendWindow(peer_settings_.initial_window());
  return stream;
}

void Session::ResetStream(Stream& stream, uint32_t error_code) {
  stream.handler_ = nullptr;
  if (stream.head_state_ == Stream::Head::kSent || role_ == Role::kServer) {
    writer_.HoldReset(stream.id_, error_code);
  }
  if (role_ == Role::kServer) closed_.Add(stream.id_, ClosedStreams::By::kThisSide);
  slots_free_ = role_ == Role::kClient;
  streams_.Retire(stream);
  // Also where output is announced already and held up: then the stream is to be freed.
  if (!serializing_) dirty_ = false;
  Dirty();
}

void Session::Close(Stream& stream, StreamEnd end) {
  end.left = stream.head_state_ == Stream::Head::kSent;
  streams_.Retire(stream);
  if (stream.handler_ != nullptr) std::exchange(stream.handler_, nullptr)->OnClosed(end);
  if (role_ == Role::kClient) handler_.OnSlotsFree();
}

void Session::ReturnRetired() {
  streams_.ReturnRetired();
  if (std::exchange(slots_free_, false)) handler_.OnSlotsFree();
  if (role_ == Role::kClient && next_id_ > kMaxStreamId && !peer_goaway_.received()) {
    // The stream ids are used up, after 2^30 calls. The connection ends as it does after a GOAWAY.
    peer_goaway_.Assume();
    Shutdown();
    handler_.OnGoaway();
  }
}

size_t Session::EndStalled(int checks) {
  // The end of one stream may make its handler end others.
  std::vector<uint32_t> stalled;
  streams_.ForEachWithId([&](Stream& stream) {
    const bool rests = stream.data_began_ && !stream.data_ended_;
    if (!rests && stream.queued_bytes_ > 0 && ++stream.stalled_checks_ > checks) {
      stalled.push_back(stream.id_);
    }
  });
  for (const uint32_t id : stalled) {
    Stream* const stream = streams_.Find(id);
    if (stream == nullptr) continue;
    writer_.HoldReset(id, kResetCancel);
    Close(*stream, {.cause = StreamEnd::Cause::kStalled});
  }
  if (!stalled.empty()) Dirty();
  return stalled.size();
}

void Session::AnnounceShutdown() {
  // The last id that a peer is told never grows (RFC 9113, section 6.8).
  if (goaway_sent_) return;
  writer_.HoldGoaway(kMaxStreamId, kResetNoError, "");
  Dirty();
}

void Session::Shutdown() {
  if (std::exchange(goaway_sent_, true)) return;
  writer_.HoldGoaway(processed_id_, kResetNoError, "");
  Dirty();
}

void Session::SendPing() {
  constexpr uint8_t kPayload[8] = {};
  writer_.HoldPing(0, kPayload);
  Dirty();
}

void Session::ConnectionLost(uint64_t written) {
  broken_ = true;
  while (Stream* stream = streams_.Any()) {
    const StreamEnd end = {.cause = StreamEnd::Cause::kLost,
                           .goaway = peer_goaway_.text(),
                           .left = stream->head_at_ < written};
    streams_.Retire(*stream);
    if (stream->handler_ != nullptr) std::exchange(stream->handler_, nullptr)->OnClosed(end);
  }
}

bool Session::Done() const {
  return broken_ ||
         (streams_.size() == 0 && (goaway_sent_ || peer_goaway_.received()) && !writer_.holds());
}

void Session::Fail(uint32_t error_code, const char* what) {
  if (std::exchange(broken_, true)) return;
  writer_.HoldGoaway(processed_id_, error_code, what);
  handler_.OnProtocolError(what);
}

void Session::Exceed(SessionLimit limit) {
  if (std::exchange(broken_, true)) return;
  writer_.HoldGoaway(processed_id_, kResetEnhanceYourCalm, TextOf(limit));
  handler_.OnLimit(limit);
}

void Session::FailStream(Stream& stream, uint32_t error_code, const char* what) {
  handler_.OnProtocolError(what);
  Refuse(stream, error_code);
}

void Session::Refuse(Stream& stream, uint32_t error_code) {
  CountReset(stream);
  CountReply();
  writer_.HoldReset(stream.id_, error_code);
  if (role_ == Role::kServer) closed_.Add(stream.id_, ClosedStreams::By::kThisSide);
  Close(stream, {.cause = StreamEnd::Cause::kReset, .error_code = error_code});
}

// RFC 9113, section 10.5, and CVE-2023-44487: a call that is cancelled at once costs its caller
// nearly nothing and this side a lot. A reset after the answer has begun is an ordinary
// cancellation.
void Session::CountReset(const Stream& stream) {
  if (role_ == Role::kServer && stream.head_state_ == Stream::Head::kNone &&
      !guard_.OnReset(now_)) {
    Exceed(SessionLimit::kResets);
  }
}

bool Session::CountControlFrame() {
  if (!guard_.OnControlFrame(now_)) Exceed(SessionLimit::kControlFrames);
  return !broken_;
}

void Session::CountReply() {
  if (!guard_.OnReply()) Exceed(SessionLimit::kPendingFrames);
}

}  // namespace levee::h2
