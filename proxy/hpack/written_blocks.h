// SPDX-License-Identifier: Apache-2.0
// Remembers how the encoder wrote the beginnings of header blocks.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/block_cache.h"
#include "hpack/learning_pace.h"
#include "wire/metadata.h"

namespace levee::hpack {

// The fields with which blocks begin, as long as references to the tables are all that they need,
// and those references. They mean the same until the dynamic table changes. One thread. It holds no
// memory before the first beginning, and at most kPlaces times 3 KiB.
class WrittenBlocks {
 public:
  struct Beginning : InBlocks {
    Metadata fields;
    std::vector<uint8_t, BlockAllocator<uint8_t>> bytes;  // the references
    uint16_t last = 0;                                    // the place of the last field
  };
  static constexpr size_t kLongest = 64;
  static constexpr size_t kMostFieldBytes = 2048;
  static constexpr size_t kPlaces = 4;

  // Returns the longest known beginning of `fields`; nullptr if none is known. `table`: the
  // changes() of the table. It is valid until the next call.
  const Beginning* Find(const Metadata& fields, uint32_t table);

  // Whether the beginning of a block for which Find has found nothing is to be remembered.
  bool Wants() { return pace_.OnUnknown(); }

  // Remembers the first `count` fields, which are written as `size` bytes, unless they are too
  // long.
  void Remember(const Metadata& fields, size_t count, const uint8_t* bytes, size_t size,
                uint16_t last);

 private:
  uint32_t table_ = 0;
  LearningPace pace_;
  size_t place_ = 0;  // modulo kPlaces, where the next beginning is remembered
  std::array<std::unique_ptr<Beginning>, kPlaces> places_;
};

}  // namespace levee::hpack
