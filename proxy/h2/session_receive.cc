// SPDX-License-Identifier: Apache-2.0
// The receiving half of Session: it makes frames of the bytes, and events of header blocks and
// bodies.
#include <algorithm>
#include <cstring>
#include <string_view>
#include <utility>

#include "base/block_cache.h"
#include "h2/session.h"
#include "wire/first_bytes.h"
#include "wire/status.h"

namespace levee::h2 {
namespace {

// A slice keeps the whole chunk that was read at once in memory. That is worthwhile only if bodies
// fill most of the chunk.
constexpr size_t kLeastShared = 128 * 1024;
constexpr size_t kLeastSlice = kMaxFrameBytes;

}  // namespace

bool Session::Receive(ByteSpan bytes, Instant now, const Chunk& shared) {
  if (broken_) return false;
  now_ = now;
  shared_ = shared.size() >= kLeastShared ? &shared : nullptr;
  const uint32_t open = assembly_.open_stream();
  const uint64_t before = frames_;
  if (TakePreface(bytes)) {
    for (;;) {
      const FrameReader::Event event = reader_.Next(bytes);
      if (event == FrameReader::Event::kNeedMore) break;
      ++frames_;
      Dispatch(event);
      if (broken_ || BlocksUsedUp()) break;
    }
  }
  untaken_ = broken_ ? 0 : bytes.size();
  unfinished_anew_ = frames_ != before && (open == 0 || open != assembly_.open_stream());
  shared_ = nullptr;
  ReturnRetired();
  // After a GOAWAY, these bytes may have ended the last stream, so that the session is done.
  if (writer_.holds() || Done()) Dirty();
  return !broken_;
}

bool Session::TakePreface(ByteSpan& bytes) {
  if (preface_left_ == 0) return true;
  const size_t size = std::min(bytes.size(), preface_left_);
  const std::string_view left = kHttp2Preface.substr(kHttp2Preface.size() - preface_left_);
  if (std::memcmp(left.data(), bytes.data(), size) != 0) {
    Fail(kResetProtocolError, "no HTTP/2 preface");
    return false;
  }
  bytes = bytes.subspan(size);
  preface_left_ -= size;
  return preface_left_ == 0;
}

void Session::Dispatch(FrameReader::Event event) {
  const FrameHead& head = reader_.head();
  if (event == FrameReader::Event::kTooLong) {
    return Fail(kResetFrameSizeError, "a frame above 16 KiB");
  }
  if (event == FrameReader::Event::kBadPadding) {
    return Fail(kResetProtocolError, "more padding than frame");
  }
  if (!peer_settings_.received() && (!head.Is(FrameType::kSettings) || head.Has(kFlagAck))) {
    return Fail(kResetProtocolError, "the first frame is not SETTINGS");
  }
  const uint32_t open = assembly_.open_stream();
  if (open != 0 && (!head.Is(FrameType::kContinuation) || head.stream_id != open)) {
    return Fail(kResetProtocolError, "another frame within a header block");
  }
  if (event == FrameReader::Event::kData) {
    OnDataFrame();
  } else {
    OnFrame(head, reader_.payload());
  }
}

void Session::OnFrame(const FrameHead& head, ByteSpan payload) {
  switch (static_cast<FrameType>(head.type)) {
    case FrameType::kHeaders:
      return OnHeaders(head, payload);
    case FrameType::kContinuation:
      return OnContinuation(head, payload);
    case FrameType::kRstStream:
      return OnRstStream(head, payload);
    case FrameType::kSettings:
      return OnSettings(head, payload);
    case FrameType::kPushPromise:
      // Neither side enables server push.
      return Fail(kResetProtocolError, "PUSH_PROMISE");
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
      CountControlFrame();
  }
}

void Session::OnHeaders(const FrameHead& head, ByteSpan payload) {
  const uint32_t id = head.stream_id;
  // Only clients open streams, with odd ids: server push is off.
  if (id % 2 == 0 || (role_ == Role::kClient && IsIdle(id))) {
    return Fail(kResetProtocolError, "HEADERS on a stream that the peer cannot open");
  }
  const BlockAssembly::Result result = assembly_.TakeHeaders(head, payload);
  if (result != BlockAssembly::Result::kWhole) return OnPartOfBlock(result);
  OnBlock(id, assembly_.ends_stream(), assembly_.block());
}

void Session::OnContinuation(const FrameHead& head, ByteSpan payload) {
  if (assembly_.open_stream() == 0)
    return Fail(kResetProtocolError, "CONTINUATION without HEADERS");
  const BlockAssembly::Result result = assembly_.TakeContinuation(head, payload);
  if (result != BlockAssembly::Result::kWhole) return OnPartOfBlock(result);
  OnBlock(head.stream_id, assembly_.ends_stream(), assembly_.block());
  assembly_.Clear();
}

void Session::OnPartOfBlock(BlockAssembly::Result result) {
  switch (result) {
    case BlockAssembly::Result::kWhole:
    case BlockAssembly::Result::kMore:
      return;
    case BlockAssembly::Result::kTooShort:
      return Fail(kResetFrameSizeError, "HEADERS are too short");
    case BlockAssembly::Result::kBadPadding:
      return Fail(kResetProtocolError, "more padding than frame");
    case BlockAssembly::Result::kTooLong:
      return Exceed(SessionLimit::kHeaderBlock);
  }
}

void Session::OnBlock(uint32_t id, bool end, ByteSpan block) {
  guard_.OnUsefulFrame();
  Stream* stream = streams_.Find(id);
  if (stream == nullptr) {
    if (role_ == Role::kServer) return OnRequestBlock(id, end, block);
    // This is the answer to an attempt that was given up. The decoder needs it nevertheless, since
    // it may change the table.
    Read(block, BlockKind::kIgnored, nullptr);
  } else if (stream->remote_ended_) {
    if (Read(block, BlockKind::kIgnored, nullptr)) {
      FailStream(*stream, kResetStreamClosed, "HEADERS behind END_STREAM");
    }
  } else if (stream->head_received_) {
    OnTrailersBlock(*stream, end, block);
  } else {
    OnResponseBlock(*stream, end, block);
  }
}

void Session::OnRequestBlock(uint32_t id, bool end, ByteSpan block) {
  if (id < next_id_) {
    switch (closed_.Find(id)) {
      case ClosedStreams::By::kThisSide:
        Read(block, BlockKind::kIgnored, nullptr);
        return;
      case ClosedStreams::By::kPeer:
        return Fail(kResetStreamClosed, "HEADERS on a closed stream");
      case ClosedStreams::By::kForgotten:
        return Fail(kResetProtocolError, "stream ids do not go up");
    }
  }
  next_id_ = id + 2;
  if (goaway_sent_) {
    // A GOAWAY told the peer that this stream is not processed (RFC 9113, section 6.8).
    Read(block, BlockKind::kIgnored, nullptr);
    return;
  }
  const size_t open = streams_.size();
  const bool refused = open >= options_.max_concurrent_streams;
  Stream& stream = NewStream(nullptr);
  streams_.SetId(stream, id);
  stream.head_received_ = true;
  if (!Read(block, refused ? BlockKind::kIgnored : BlockKind::kRequest, &stream.received_)) return;
  if (refused) {
    handler_.OnLimit(SessionLimit::kStreams);
    return Refuse(stream, kResetRefusedStream);
  }
  if (const char* fault = blocks_.rules().Fault())
    return FailStream(stream, kResetProtocolError, fault);
  stream.oversized_ = blocks_.rules().excess() != HeaderRules::Excess::kNone;
  stream.body_left_ = blocks_.rules().content_length();
  if (end && stream.body_left_ > 0) {
    return FailStream(stream, kResetProtocolError, "less body than content-length says");
  }
  stream.remote_ended_ = end;
  TellExcess();
  if (open + 1 == options_.max_concurrent_streams) handler_.OnLimit(SessionLimit::kStreams);
  processed_id_ = id;
  StreamHandler* handler = handler_.OnRequest(stream, stream.received_, end);
  if (!stream.retired_) stream.handler_ = handler;
}

void Session::OnResponseBlock(Stream& stream, bool end, ByteSpan block) {
  stream.received_.Clear();
  if (!Read(block, BlockKind::kResponse, &stream.received_)) return;
  const char* fault = blocks_.rules().Fault();
  if (fault == nullptr && blocks_.rules().status() < 200) {
    // RFC 9113, section 8.1: an interim answer does not end the stream, and HTTP/2 has no status
    // 101.
    if (!end && blocks_.rules().status() != 101) return;
    fault = "an interim answer that ends the stream or has status 101";
  }
  if (fault == nullptr && end && blocks_.rules().content_length() > 0) {
    fault = "less body than content-length says";
  }
  if (fault != nullptr) return FailStream(stream, kResetProtocolError, fault);
  answered_ = true;
  stream.head_received_ = true;
  stream.oversized_ = blocks_.rules().excess() != HeaderRules::Excess::kNone;
  stream.body_left_ = blocks_.rules().content_length();
  stream.remote_ended_ = end;
  TellExcess();
  if (stream.handler_ != nullptr) stream.handler_->OnHead(stream.received_, end);
  if (end) CloseIfBothEnded(stream);
}

void Session::OnTrailersBlock(Stream& stream, bool end, ByteSpan block) {
  stream.received_.Clear();
  if (!Read(block, BlockKind::kTrailers, &stream.received_)) return;
  if (!end) return FailStream(stream, kResetProtocolError, "a second head");
  if (const char* fault = blocks_.rules().Fault())
    return FailStream(stream, kResetProtocolError, fault);
  if (blocks_.rules().excess() != HeaderRules::Excess::kNone) stream.oversized_ = true;
  if (role_ == Role::kClient) TellExcess();  // A request's trailers are dropped.
  RemoteEnded(stream, role_ == Role::kClient ? &stream.received_ : nullptr);
}

void Session::TellExcess() {
  if (blocks_.rules().excess() == HeaderRules::Excess::kNone) return;
  handler_.OnLimit(blocks_.rules().excess() == HeaderRules::Excess::kFields
                       ? SessionLimit::kMetadataFields
                       : SessionLimit::kMetadataBytes);
}

bool Session::Read(ByteSpan block, BlockKind kind, Metadata* fields) {
  if (blocks_.Read(block, kind, fields)) return true;
  if (blocks_.rules().too_long()) {
    Exceed(SessionLimit::kHeaderBlock);
  } else {
    Fail(kResetCompressionError, "a header block that cannot be decoded");
  }
  return false;
}

void Session::RemoteEnded(Stream& stream, Metadata* trailers) {
  if (stream.body_left_ > 0) {
    return FailStream(stream, kResetProtocolError, "less body than content-length says");
  }
  stream.remote_ended_ = true;
  if (stream.handler_ != nullptr) stream.handler_->OnEnd(trailers);
  CloseIfBothEnded(stream);
}

void Session::CloseIfBothEnded(Stream& stream) {
  if (stream.local_ended_ && !stream.retired_)
    Close(stream, {.cause = StreamEnd::Cause::kComplete});
}

void Session::OnDataFrame() {
  const FrameHead& head = reader_.head();
  if (reader_.first_piece()) {
    if (head.stream_id == 0 || IsIdle(head.stream_id)) {
      return Fail(kResetProtocolError, "DATA on a stream that is not open");
    }
    if (!receive_window_.Take(head.length)) {
      return Fail(kResetFlowControlError, "DATA above the window");
    }
    CreditConnection(head.length);
    if (head.length > reader_.padding_bytes() || head.Has(kFlagEndStream)) {
      guard_.OnUsefulFrame();
    } else {
      CountControlFrame();
    }
  }
  if (Stream* stream = streams_.Find(head.stream_id)) return OnDataPiece(*stream);
  if (reader_.first_piece()) OnFrameOfClosedStream(head.stream_id);
}

void Session::OnDataPiece(Stream& stream) {
  const FrameHead& head = reader_.head();
  if (stream.remote_ended_) {
    return FailStream(stream, kResetStreamClosed, "DATA behind END_STREAM");
  }
  if (reader_.first_piece()) {
    if (!stream.head_received_) {
      return FailStream(stream, kResetProtocolError, "DATA before a head");
    }
    if (!stream.receive_window_.Take(head.length)) {
      return FailStream(stream, kResetFlowControlError, "DATA above the stream's window");
    }
    CreditStream(stream, reader_.padding_bytes());
    if (stream.receive_window_.half_used() && growth_.WantsProbe(now_)) ProbeWindow(stream);
  }
  const ByteSpan piece = reader_.payload();
  if (stream.body_left_ >= 0) {
    stream.body_left_ -= static_cast<int64_t>(piece.size());
    if (stream.body_left_ < 0) {
      return FailStream(stream, kResetProtocolError, "more body than content-length says");
    }
  }
  if (stream.handler_ == nullptr) {
    CreditStream(stream, piece.size());
  } else if (!piece.empty()) {
    stream.handler_->OnData(Body(piece));
  }
  if (stream.retired_ || !reader_.last_piece() || !head.Has(kFlagEndStream)) return;
  RemoteEnded(stream, nullptr);
}

Chunk Session::Body(ByteSpan piece) const {
  if (shared_ == nullptr || piece.size() < kLeastSlice) return Chunk::Copy(piece);
  return shared_->Slice(static_cast<size_t>(piece.data() - shared_->data()), piece.size());
}

}  // namespace levee::h2
