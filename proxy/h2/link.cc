// SPDX-License-Identifier: Apache-2.0
#include "h2/link.h"

#include <string_view>

#include "wire/status.h"

namespace levee::h2 {
namespace {

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

Link::Link(Role role, const SessionOptions& options, SessionHandler& events, OutputHandler& output,
           StreamPool& pool, Session& session)
    : handler(events),
      streams(pool),
      guard(options),
      peer_settings(/*may_enable_push=*/role == Role::kServer),
      role_(role),
      output_handler_(output),
      session_(session) {}

Stream& Link::NewStream(StreamHandler* stream_handler) {
  Stream& stream = streams.Add();
  stream.session_ = &session_;
  stream.handler_ = stream_handler;
  stream.send_window_ = SendWindow(peer_settings.initial_window());
  return stream;
}

void Link::Fail(uint32_t error_code, const char* what) {
  if (broken()) return;
  state_ = State::kBroken;
  writer.HoldGoaway(ids.processed(), error_code, what);
  handler.OnProtocolError(what);
}

void Link::Exceed(SessionLimit limit) {
  if (broken()) return;
  state_ = State::kBroken;
  writer.HoldGoaway(ids.processed(), kResetEnhanceYourCalm, TextOf(limit));
  handler.OnLimit(limit);
}

bool Link::CountControlFrame() {
  if (!guard.OnControlFrame(now)) Exceed(SessionLimit::kControlFrames);
  return !broken();
}

void Link::CountReply() {
  if (!guard.OnReply()) Exceed(SessionLimit::kPendingFrames);
}

void Link::AnnounceLeaving() {
  if (state_ != State::kOpen) return;
  writer.HoldGoaway(kMaxStreamId, kResetNoError, "");
  Announce();
}

void Link::Leave() {
  if (state_ != State::kOpen) return;
  state_ = State::kLeaving;
  writer.HoldGoaway(ids.processed(), kResetNoError, "");
  Announce();
}

void Link::LeaveUnasked() {
  peer_goaway.Assume();
  Leave();
  handler.OnGoaway();
}

bool Link::Done() const {
  return broken() ||
         (streams.size() == 0 && (leaving() || peer_goaway.received()) && !writer.holds());
}

bool Link::Consistent() {
  bool ids_fit = true;
  streams.ForEach([&](const Stream& stream) {
    // A request gets its id when its head is written. An answer's stream has one from the start.
    ids_fit = ids_fit && (stream.id_ != 0) == (server() || stream.head_sent()) &&
              (stream.id_ == 0 || !ids.IsIdle(stream.id_));
  });
  return ids_fit && output_ != Output::kSerializing && streams.Consistent();
}

}  // namespace levee::h2
