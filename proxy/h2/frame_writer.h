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
// frames, and header blocks that take several frames, are held until Drain. Held frames must all be
// drained before another frame is written, so that no frame of a stream comes in between. One
// thread.
class FrameWriter {
 public:
  // A setting and its value.
  using Entry = std::pair<Setting, uint32_t>;

  // Each of these functions appends one frame to the held ones; HoldPreface appends the preface of
  // a client.
  void HoldPreface();
  void HoldSettings(std::span<const Entry> entries);
  void HoldSettingsAck() { Hold(0, FrameType::kSettings, kFlagAck, 0); }
  // `payload`: 8 bytes.
  void HoldPing(uint8_t flags, ByteSpan payload);
  void HoldReset(uint32_t id, uint32_t error_code);
  void HoldWindowUpdate(uint32_t id, uint32_t bytes);
  void HoldGoaway(uint32_t last_id, uint32_t error_code, std::string_view text);

  bool holds() const { return !held_.empty(); }

  // Moves as many held bytes to `out` as it has room for. True: nothing is held any more.
  bool Drain(OutputBuffer& out);

  // Writes `fields` as HEADERS of stream `id`: to `out` if the block surely fits into one frame,
  // otherwise to the held frames. `end`: with END_STREAM. False: `out` has not enough room, and
  // nothing happened. Nothing may be held before the call.
  bool WriteBlock(const Metadata& fields, uint32_t id, bool end, OutputBuffer& out);

  // Writes the head of a DATA frame. The caller must append its `bytes` of body to `out` next; they
  // count as written now. `out` must have room for both.
  void WriteDataHead(size_t bytes, uint32_t id, bool end, OutputBuffer& out) {
    PutFrameHead(out.end(), bytes, FrameType::kData, end ? kFlagEndStream : uint8_t{0}, id);
    Advance(out, kFrameHeadBytes);
    written_ += bytes;
  }

  // Sets the table size that the peer's SETTINGS allow. The next block tells the peer of it.
  void SetMaxTableBytes(size_t bytes) { encoder_.SetMaxTableBytes(bytes); }

  // The number of bytes that were written to output buffers so far.
  uint64_t written() const { return written_; }

 private:
  // Appends a frame's head and room for its payload. Returns the address of the payload.
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
