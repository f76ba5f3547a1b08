// SPDX-License-Identifier: Apache-2.0
// Heads, bodies and trailers that a session receives.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/chunk.h"
#include "h2/block_assembly.h"
#include "h2/block_reader.h"
#include "h2/ends.h"
#include "h2/frame.h"
#include "h2/frame_reader.h"
#include "h2/link.h"
#include "h2/receive_windows.h"
#include "h2/session_options.h"
#include "h2/stream.h"
#include "wire/metadata.h"

namespace levee::h2 {

// Makes events of streams out of HEADERS, CONTINUATION and DATA. Begins the streams of requests.
// One thread.
class MessageReceiver {
 public:
  MessageReceiver(const SessionOptions& options, Link& link, Ends& ends, ReceiveWindows& windows);

  void OnHeaders(const FrameHead& head, ByteSpan payload);
  void OnContinuation(const FrameHead& head, ByteSpan payload);

  // Takes the piece of a body that the reader is at. If it lies in `shared`, a large one is given
  // on as a slice of it; nullptr: always as a copy.
  void OnData(const FrameReader& reader, const Chunk* shared);

  // The stream whose header block has begun and is not whole, in which case no other frame may
  // come; 0 for none. And the memory that is held for that block.
  uint32_t open_block() const { return assembly_.open_stream(); }
  size_t held_bytes() const { return assembly_.held_bytes(); }

  // Client role: whether the head of an answer has come.
  bool answered() const { return answered_; }

 private:
  void OnPartOfBlock(BlockAssembly::Result result);
  void OnBlock(uint32_t id, bool end, ByteSpan block);
  void OnRequestBlock(uint32_t id, bool end, ByteSpan block);
  void OnBlockOfClosedStream(uint32_t id, ByteSpan block);
  void OnResponseBlock(Stream& stream, bool end, ByteSpan block);
  void OnTrailersBlock(Stream& stream, bool end, ByteSpan block);
  bool Read(ByteSpan block, BlockKind kind, Metadata* fields);
  void TakeHead(Stream& stream, bool end);
  void TellExcess();
  void OnPiece(Stream& stream, const FrameReader& reader, const Chunk* shared);

  Link& link_;
  Ends& ends_;
  ReceiveWindows& windows_;
  BlockAssembly assembly_;
  BlockReader blocks_;
  const uint32_t max_streams_;
  bool answered_ = false;
};

}  // namespace levee::h2
