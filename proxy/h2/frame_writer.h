// SPDX-License-Identifier: Apache-2.0
// Writes frames: control frames and header blocks, and their order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "base/chunk.h"
#include "h2/frame.h"
#include "h2/output_buffer.h"
#include "hpack/encoder.h"
#include "wire/metadata.h"

namespace levee::h2 {

// Everything that one connection sends passes through here, except the bytes of bodies. Control
// frames, and header blocks that take several frames, are held until Drain, which must come before
// any other frame is written: so they are never parted by a frame of a stream. One thread.
class FrameWriter {
 public:
  // A setting and its value.
  using Entry = std::pair<Setting, uint32_t>;

  // Each Hold appends one frame to what is held, HoldPreface the preface of a client.
  void HoldPreface();
  void HoldSettings(std::span<const Entry> entries);
  void HoldSettingsAck() { Hold(0, FrameType::kSettings, kFlagAck, 0); }
  // `payload`: 8 bytes.
  void HoldPing(uint8_t flags, ByteSpan payload);
  void HoldReset(uint32_t id, uint32_t error_code);
  void HoldWindowUpdate(uint32_t id, uint32_t bytes);
  void HoldGoaway(uint32_t last_id, uint32_t error_code, std::string_view text);

  bool holds() const { return !held_.empty(); }

  // Moves what is held to `out`, as much as there is room for. True: nothing is held any more.
  bool Drain(OutputBuffer& out);

  // Writes `fields` as HEADERS of stream `id`, to `out` if the block surely fits into one frame;
  // else they are held. `end`: with END_STREAM. False: `out` has not enough room, and nothing
  // happened. Nothing may be held before.
  bool WriteBlock(const Metadata& fields, uint32_t id, bool end, OutputBuffer& out);

  // Writes the head of a DATA frame whose `bytes` of body the caller appends to `out` next; they
  // count as written. `out` has room for both.
  void WriteDataHead(size_t bytes, uint32_t id, bool end, OutputBuffer& out) {
    PutFrameHead(out.end(), bytes, FrameType::kData, end ? kFlagEndStream : uint8_t{0}, id);
    Advance(out, kFrameHeadBytes);
    written_ += bytes;
  }

  // The table size that the peer's SETTINGS allow; the next block says so.
  void SetMaxTableBytes(size_t bytes) { encoder_.SetMaxTableBytes(bytes); }

  // The number of bytes that were written to output buffers so far.
  uint64_t written() const { return written_; }

 private:
  // Returns where the payload goes.
  uint8_t* Hold(size_t payload, FrameType type, uint8_t flags, uint32_t id);
  void HoldBlock(const Metadata& fields, uint32_t id, bool end);
  void Advance(OutputBuffer& out, size_t bytes) {
    out.Advance(bytes);
    written_ += bytes;
  }

  hpack::Encoder encoder_;
  std::vector<uint8_t> held_;
  size_t held_sent_ = 0;
  uint64_t written_ = 0;
};

}  // namespace levee::h2
