// SPDX-License-Identifier: Apache-2.0
#include "h2/ends.h"

#include <utility>
#include <vector>

#include "base/check.h"
#include "base/intrusive_list.h"
#include "wire/status.h"

namespace levee::h2 {

void Ends::OnRemoteEnd(Stream& stream, Metadata* trailers) {
  if (stream.body_left_ > 0) {
    return Fail(stream, kResetProtocolError, "less body than content-length says");
  }
  stream.remote_ = Stream::Remote::kEnded;
  if (stream.handler_ != nullptr) stream.handler_->OnEnd(trailers);
  CloseIfBothEnded(stream);
}

void Ends::CloseIfBothEnded(Stream& stream) {
  if (stream.local_ == Stream::Local::kEnded && !stream.retired_)
    Close(stream, {.cause = StreamEnd::Cause::kComplete});
}

void Ends::OnLocalEnd(Stream& stream) {
  stream.local_ = Stream::Local::kEnded;
  if (stream.remote_ == Stream::Remote::kEnded) {
    Remember(stream, ClosedStreams::By::kPeer);
    Close(stream, {.cause = StreamEnd::Cause::kComplete});
  } else if (link_.server()) {
    // The answer is complete although the request is not. The caller need not send the rest of it
    // (RFC 9113, section 8.1).
    link_.writer.HoldReset(stream.id_, kResetNoError);
    Remember(stream, ClosedStreams::By::kThisSide);
    Close(stream, {.cause = StreamEnd::Cause::kReset});
  }
}

void Ends::OnReset(Stream& stream, uint32_t error_code) {
  CountReset(stream);
  Remember(stream, ClosedStreams::By::kPeer);
  // The answer is complete. The server sent RST_STREAM after it because it does not want the rest
  // of the request (RFC 9113, section 8.1).
  const bool complete = error_code == kResetNoError && stream.remote_ == Stream::Remote::kEnded;
  Close(stream, {.cause = complete ? StreamEnd::Cause::kComplete : StreamEnd::Cause::kReset,
                 .error_code = error_code});
}

// RFC 9113, sections 5.1 and 6.4, makes this a fault of the connection. But older clients on gRPC's
// core (1.51, 1.62) send it for a call that ended before its HEADERS were written
// (grpc/grpc#19655), and all other calls of the connection would pay for that. It says no more than
// a call that was opened and cancelled, so it is counted as one. The id stays free: HEADERS of
// lower ids may still come.
void Ends::OnResetOfIdleStream() {
  if (!link_.guard.OnReset(link_.now)) link_.Exceed(SessionLimit::kResets);
}

// A frame of a stream that this side has ended is no fault: it may have been on its way.
void Ends::OnFrameOfClosedStream(uint32_t id) {
  if (link_.server() && closed_.Find(id) == ClosedStreams::By::kPeer) {
    link_.Fail(kResetStreamClosed, "a frame on a stream that the peer has ended");
  }
}

// RFC 9113, section 10.5, and CVE-2023-44487: a call that is cancelled at once costs its caller
// nearly nothing and this side a lot. A reset after the answer has begun is an ordinary
// cancellation.
void Ends::CountReset(const Stream& stream) {
  if (link_.server() && stream.local_ == Stream::Local::kNoHead &&
      !link_.guard.OnReset(link_.now)) {
    link_.Exceed(SessionLimit::kResets);
  }
}

void Ends::Fail(Stream& stream, uint32_t error_code, const char* what) {
  link_.handler.OnProtocolError(what);
  Refuse(stream, error_code);
}

void Ends::Refuse(Stream& stream, uint32_t error_code) {
  CountReset(stream);
  link_.CountReply();
  link_.writer.HoldReset(stream.id_, error_code);
  Remember(stream, ClosedStreams::By::kThisSide);
  Close(stream, {.cause = StreamEnd::Cause::kReset, .error_code = error_code});
}

void Ends::Reset(Stream& stream, uint32_t error_code) {
  stream.handler_ = nullptr;
  if (stream.head_sent() || link_.server()) {
    link_.writer.HoldReset(stream.id_, error_code);
  }
  Remember(stream, ClosedStreams::By::kThisSide);
  slots_free_ = link_.client();
  link_.streams.Retire(stream);
  // Again, so that the stream is freed also where output is announced already and held up.
  link_.AnnounceAgain();
}

void Ends::Close(Stream& stream, StreamEnd end) {
  end.left = stream.head_sent();
  link_.streams.Retire(stream);
  if (stream.handler_ != nullptr) std::exchange(stream.handler_, nullptr)->OnClosed(end);
  if (link_.client()) link_.handler.OnSlotsFree();
}

bool Ends::MayAnswer() const {
  bool may_answer = false;
  link_.streams.ForEach(
      [&](const Stream& stream) { may_answer = may_answer || !Excluded(stream); });
  return may_answer;
}

void Ends::EndExcluded() {
  IntrusiveList<Stream> excluded;
  link_.streams.ForEach([&](Stream& stream) {
    if (!Excluded(stream)) return;
    stream.Unlink();
    excluded.PushBack(stream);
  });
  // The handler of one stream's event may end other streams.
  while (Stream* stream = excluded.PopFront()) {
    Close(*stream, {.cause = StreamEnd::Cause::kExcluded, .goaway = link_.peer_goaway.text()});
  }
}

size_t Ends::EndStalled(int checks) {
  // The end of one stream may make its handler end others.
  std::vector<uint32_t> stalled;
  link_.streams.ForEachWithId([&](Stream& stream) {
    const bool rests = stream.body_began_ && stream.last_ == Stream::Last::kUnknown;
    if (!rests && stream.queued_bytes() > 0 && ++stream.stalled_checks_ > checks) {
      stalled.push_back(stream.id_);
    }
  });
  for (const uint32_t id : stalled) {
    Stream* const stream = link_.streams.Find(id);
    if (stream == nullptr) continue;
    link_.writer.HoldReset(id, kResetCancel);
    Close(*stream, {.cause = StreamEnd::Cause::kStalled});
  }
  if (!stalled.empty()) link_.Announce();
  return stalled.size();
}

void Ends::EndAll(uint64_t written) {
  while (Stream* stream = link_.streams.Any()) {
    const StreamEnd end = {.cause = StreamEnd::Cause::kLost,
                           .goaway = link_.peer_goaway.text(),
                           .left = stream->head_at_ < written};
    link_.streams.Retire(*stream);
    if (stream->handler_ != nullptr) std::exchange(stream->handler_, nullptr)->OnClosed(end);
  }
  LEVEE_DCHECK(link_.streams.queued_bytes() == 0);
}

void Ends::FreeEnded() {
  link_.streams.ReturnRetired();
  if (std::exchange(slots_free_, false)) link_.handler.OnSlotsFree();
  // The stream ids are used up, after 2^30 calls. The connection ends as it does after a GOAWAY.
  if (link_.client() && link_.ids.used_up() && !link_.peer_goaway.received()) {
    link_.LeaveUnasked();
  }
}

}  // namespace levee::h2
