// SPDX-License-Identifier: Apache-2.0
// Remembers what the header blocks of a connection meant.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/block_cache.h"
#include "base/chunk.h"
#include "h2/header_rules.h"
#include "hpack/learning_pace.h"
#include "wire/metadata.h"

namespace levee::h2 {

// A gRPC peer sends nearly the same header blocks again and again: all of an answer's, and of a
// request's all but a timeout or a trace id. So the beginnings that blocks have in common are
// remembered with their fields, and only what comes behind one is decoded.
//
// A beginning holds as long as the decoder's table does not change, and it is found by its bytes
// alone, so it means exactly what decoding it would. One thread. It holds no memory before the
// first beginning, and at most kPlaces times 7 KiB.
class BlockMemory {
 public:
  struct Beginning : InBlocks {
    BlockKind kind = BlockKind::kIgnored;
    std::vector<uint8_t, BlockAllocator<uint8_t>> bytes;  // of the block
    Metadata fields;
    HeaderRules::Shown shown;
  };
  static constexpr size_t kLongest = 256;
  static constexpr size_t kMostFieldBytes = 4096;
  static constexpr size_t kPlaces = 4;

  // Returns the longest known beginning of `block`; nullptr if none is known. `table`:
  // Decoder::table_changes(). It is valid until the next call.
  const Beginning* Find(ByteSpan block, BlockKind kind, uint32_t table);

  // Must be called after Find has found nothing. Returns the size of the beginning that is worth to
  // be remembered, up to the end of a field; 0 for none.
  size_t Wanted(ByteSpan block, BlockKind kind);

  // Remembers a beginning that was wanted. `shown`: what its fields have shown.
  void Remember(ByteSpan beginning, BlockKind kind, const Metadata& fields,
                const HeaderRules::Shown& shown);

 private:
  void Forget();

  uint32_t table_ = 0;
  hpack::LearningPace pace_;
  size_t place_ = 0;  // in which the next beginning is remembered
  std::array<std::unique_ptr<Beginning>, kPlaces> places_;
};

}  // namespace levee::h2
