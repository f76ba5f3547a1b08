// SPDX-License-Identifier: Apache-2.0
// Reads the header blocks that the peer of a connection sends.
#pragma once

#include <cstddef>

#include "base/chunk.h"
#include "h2/block_memory.h"
#include "h2/header_rules.h"
#include "hpack/decoder.h"
#include "wire/metadata.h"

namespace levee::h2 {

// Decodes header blocks and judges their fields. One thread.
class BlockReader {
 public:
  // The bounds of HeaderRules.
  BlockReader(size_t max_fields, size_t max_bytes, size_t max_dropped_bytes)
      : rules_(max_fields, max_bytes, max_dropped_bytes) {}

  // Adds the fields of a whole block to `fields`, which is empty. Of a block of the kind kIgnored
  // the fields are dropped, and `fields` may be nullptr. False: as hpack::Decoder::Decode.
  bool Read(ByteSpan block, BlockKind kind, Metadata* fields);

  // Returns the judgement on the block that was read last.
  const HeaderRules& rules() const { return rules_; }

 private:
  bool Learn(ByteSpan block, size_t beginning, BlockKind kind, const Metadata& fields);

  hpack::Decoder decoder_;
  HeaderRules rules_;
  BlockMemory memory_;
};

}  // namespace levee::h2
