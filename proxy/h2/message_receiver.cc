// SPDX-License-Identifier: Apache-2.0
#include "h2/message_receiver.h"

#include "base/block_cache.h"
#include "wire/status.h"

namespace levee::h2 {
namespace {

// How many bytes of fields one byte of a header block may stand for, on average over the longest
// block. Honest blocks stay far below: Huffman coding makes 1.6 of one, and a reference stands for
// a field of some dozen bytes.
constexpr size_t kDecodedPerByte = 16;

// A smaller slice is not worth the chunk that it keeps in memory.
constexpr size_t kLeastSlice = kMaxFrameBytes;

Chunk Body(ByteSpan piece, const Chunk* shared) {
  if (shared == nullptr || piece.size() < kLeastSlice) return Chunk::Copy(piece);
  return shared->Slice(static_cast<size_t>(piece.data() - shared->data()), piece.size());
}

}  // namespace

MessageReceiver::MessageReceiver(const SessionOptions& options, Link& link, Ends& ends,
                                 ReceiveWindows& windows)
    : link_(link),
      ends_(ends),
      windows_(windows),
      assembly_(options.header_block_bytes),
      blocks_(options.metadata_fields, options.metadata_bytes,
              kDecodedPerByte * options.header_block_bytes),
      max_streams_(options.max_concurrent_streams) {}

void MessageReceiver::OnHeaders(const FrameHead& head, ByteSpan payload) {
  const uint32_t id = head.stream_id;
  // Only clients open streams, with odd ids: server push is off.
  if (id % 2 == 0 || (link_.client() && link_.ids.IsIdle(id))) {
    return link_.Fail(kResetProtocolError, "HEADERS on a stream that the peer cannot open");
  }
  const BlockAssembly::Result result = assembly_.TakeHeaders(head, payload);
  if (result != BlockAssembly::Result::kWhole) return OnPartOfBlock(result);
  OnBlock(id, assembly_.ends_stream(), assembly_.block());
}

void MessageReceiver::OnContinuation(const FrameHead& head, ByteSpan payload) {
  if (assembly_.open_stream() == 0) {
    return link_.Fail(kResetProtocolError, "CONTINUATION without HEADERS");
  }
  const BlockAssembly::Result result = assembly_.TakeContinuation(head, payload);
  if (result != BlockAssembly::Result::kWhole) return OnPartOfBlock(result);
  OnBlock(head.stream_id, assembly_.ends_stream(), assembly_.block());
  assembly_.Clear();
}

void MessageReceiver::OnPartOfBlock(BlockAssembly::Result result) {
  switch (result) {
    case BlockAssembly::Result::kWhole:
    case BlockAssembly::Result::kMore:
      return;
    case BlockAssembly::Result::kTooShort:
      return link_.Fail(kResetFrameSizeError, "HEADERS are too short");
    case BlockAssembly::Result::kBadPadding:
      return link_.Fail(kResetProtocolError, "more padding than frame");
    case BlockAssembly::Result::kTooLong:
      return link_.Exceed(SessionLimit::kHeaderBlock);
  }
}

void MessageReceiver::OnBlock(uint32_t id, bool end, ByteSpan block) {
  link_.guard.OnUsefulFrame();
  Stream* stream = link_.streams.Find(id);
  if (stream == nullptr) {
    if (link_.server()) return OnRequestBlock(id, end, block);
    // This is the answer to an attempt that was given up. The decoder needs it nevertheless, since
    // it may change the table.
    Read(block, BlockKind::kIgnored, nullptr);
  } else if (stream->remote_ == Stream::Remote::kEnded) {
    if (Read(block, BlockKind::kIgnored, nullptr)) {
      ends_.Fail(*stream, kResetStreamClosed, "HEADERS behind END_STREAM");
    }
  } else if (stream->remote_ == Stream::Remote::kBody) {
    OnTrailersBlock(*stream, end, block);
  } else {
    OnResponseBlock(*stream, end, block);
  }
}

void MessageReceiver::OnRequestBlock(uint32_t id, bool end, ByteSpan block) {
  if (!link_.ids.IsIdle(id)) return OnBlockOfClosedStream(id, block);
  link_.ids.Use(id);
  if (link_.leaving()) {
    // A GOAWAY told the peer that this stream is not processed (RFC 9113, section 6.8).
    Read(block, BlockKind::kIgnored, nullptr);
    return;
  }
  const size_t open = link_.streams.size();
  const bool refused = open >= max_streams_;
  Stream& stream = link_.NewStream(nullptr);
  windows_.Begin(stream);
  link_.streams.SetId(stream, id);
  if (!Read(block, refused ? BlockKind::kIgnored : BlockKind::kRequest, &stream.received_)) return;
  if (refused) {
    link_.handler.OnLimit(SessionLimit::kStreams);
    return ends_.Refuse(stream, kResetRefusedStream);
  }
  if (const char* fault = blocks_.rules().Fault()) {
    return ends_.Fail(stream, kResetProtocolError, fault);
  }
  if (end && blocks_.rules().content_length() > 0) {
    return ends_.Fail(stream, kResetProtocolError, "less body than content-length says");
  }
  TakeHead(stream, end);
  if (open + 1 == max_streams_) link_.handler.OnLimit(SessionLimit::kStreams);
  link_.ids.OnProcessed(id);
  StreamHandler* handler = link_.handler.OnRequest(stream, stream.received_, end);
  if (!stream.retired_) stream.handler_ = handler;
}

void MessageReceiver::OnBlockOfClosedStream(uint32_t id, ByteSpan block) {
  switch (ends_.WhoClosed(id)) {
    case ClosedStreams::By::kThisSide:
      Read(block, BlockKind::kIgnored, nullptr);
      return;
    case ClosedStreams::By::kPeer:
      return link_.Fail(kResetStreamClosed, "HEADERS on a closed stream");
    case ClosedStreams::By::kForgotten:
      return link_.Fail(kResetProtocolError, "stream ids do not go up");
  }
}

void MessageReceiver::OnResponseBlock(Stream& stream, bool end, ByteSpan block) {
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
  if (fault != nullptr) return ends_.Fail(stream, kResetProtocolError, fault);
  answered_ = true;
  TakeHead(stream, end);
  if (stream.handler_ != nullptr) stream.handler_->OnHead(stream.received_, end);
  if (end) ends_.CloseIfBothEnded(stream);
}

void MessageReceiver::OnTrailersBlock(Stream& stream, bool end, ByteSpan block) {
  stream.received_.Clear();
  if (!Read(block, BlockKind::kTrailers, &stream.received_)) return;
  if (!end) return ends_.Fail(stream, kResetProtocolError, "a second head");
  if (const char* fault = blocks_.rules().Fault()) {
    return ends_.Fail(stream, kResetProtocolError, fault);
  }
  if (blocks_.rules().excess() != HeaderRules::Excess::kNone) stream.oversized_ = true;
  if (link_.client()) TellExcess();  // A request's trailers are dropped.
  ends_.OnRemoteEnd(stream, link_.client() ? &stream.received_ : nullptr);
}

// The head that was read last is that of the stream.
void MessageReceiver::TakeHead(Stream& stream, bool end) {
  stream.oversized_ = blocks_.rules().excess() != HeaderRules::Excess::kNone;
  stream.body_left_ = blocks_.rules().content_length();
  stream.remote_ = end ? Stream::Remote::kEnded : Stream::Remote::kBody;
  TellExcess();
}

void MessageReceiver::TellExcess() {
  if (blocks_.rules().excess() == HeaderRules::Excess::kNone) return;
  link_.handler.OnLimit(blocks_.rules().excess() == HeaderRules::Excess::kFields
                            ? SessionLimit::kMetadataFields
                            : SessionLimit::kMetadataBytes);
}

bool MessageReceiver::Read(ByteSpan block, BlockKind kind, Metadata* fields) {
  if (blocks_.Read(block, kind, fields)) return true;
  if (blocks_.rules().too_long()) {
    link_.Exceed(SessionLimit::kHeaderBlock);
  } else {
    link_.Fail(kResetCompressionError, "a header block that cannot be decoded");
  }
  return false;
}

void MessageReceiver::OnData(const FrameReader& reader, const Chunk* shared) {
  const FrameHead& head = reader.head();
  if (reader.first_piece()) {
    if (link_.ids.IsIdle(head.stream_id)) {
      return link_.Fail(kResetProtocolError, "DATA on a stream that is not open");
    }
    if (!windows_.TakeOfConnection(head.length)) {
      return link_.Fail(kResetFlowControlError, "DATA above the window");
    }
    if (head.length > reader.padding_bytes() || head.Has(kFlagEndStream)) {
      link_.guard.OnUsefulFrame();
    } else {
      link_.CountControlFrame();
    }
  }
  if (Stream* stream = link_.streams.Find(head.stream_id)) return OnPiece(*stream, reader, shared);
  if (reader.first_piece()) ends_.OnFrameOfClosedStream(head.stream_id);
}

void MessageReceiver::OnPiece(Stream& stream, const FrameReader& reader, const Chunk* shared) {
  const FrameHead& head = reader.head();
  if (stream.remote_ == Stream::Remote::kEnded) {
    return ends_.Fail(stream, kResetStreamClosed, "DATA behind END_STREAM");
  }
  if (reader.first_piece()) {
    if (stream.remote_ == Stream::Remote::kHead) {
      return ends_.Fail(stream, kResetProtocolError, "DATA before a head");
    }
    if (!windows_.TakeOfStream(stream, head.length, reader.padding_bytes())) {
      return ends_.Fail(stream, kResetFlowControlError, "DATA above the stream's window");
    }
  }
  const ByteSpan piece = reader.payload();
  if (stream.body_left_ >= 0) {
    stream.body_left_ -= static_cast<int64_t>(piece.size());
    if (stream.body_left_ < 0) {
      return ends_.Fail(stream, kResetProtocolError, "more body than content-length says");
    }
  }
  if (stream.handler_ == nullptr) {
    windows_.Credit(stream, piece.size());
  } else if (!piece.empty()) {
    stream.handler_->OnData(Body(piece, shared));
  }
  if (stream.retired_ || !reader.last_piece() || !head.Has(kFlagEndStream)) return;
  ends_.OnRemoteEnd(stream, nullptr);
}

}  // namespace levee::h2
