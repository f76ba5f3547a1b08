// SPDX-License-Identifier: Apache-2.0
// The decoder of HPACK (RFC 7541): it makes fields of header blocks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/chunk.h"
#include "hpack/table.h"

namespace levee::hpack {

struct DecodedField {
  std::string_view name;
  std::string_view value;
  FieldKind kind = FieldKind::kOther;
  // Whether IsWellFormedName and IsWellFormedValue are true. Spaces around the value are allowed,
  // since gRPC's metadata may have them.
  FieldForm form = FieldForm::kGood;
  bool never_index = false;

  bool well_formed() const { return form == FieldForm::kGood; }
};

// Gets the fields of a block in their order. The views are valid during the call only. The
// interface inverts a dependency: the rules for fields are of a layer above.
class FieldSink {
 public:
  // False: the rest of the block is not wanted. A field can be thousands of times as long as the
  // byte of the block that refers to it, so the sink is to bound the sum of their sizes.
  virtual bool OnField(const DecodedField& field) = 0;

 protected:
  ~FieldSink() = default;
};

// Decodes one direction of one connection. One thread. It holds the memory of the table, which
// needs none before its first entry, and memory for decoded strings while it decodes a block that
// has Huffman-coded ones.
class Decoder {
 public:
  // `max_table_bytes`: the size that this side's SETTINGS_HEADER_TABLE_SIZE allows the peer, at
  // most kMaxTableBytes. The table has this size until the peer changes it.
  explicit Decoder(size_t max_table_bytes = kMaxTableBytes);

  // Decodes one whole block. Its cost is linear in the bytes of the block and of the fields that
  // the sink gets. False: the block has a compression error, or the sink did not want the rest of
  // it. Either way the table is of no use any more, and the connection must be closed. The sink may
  // have got the fields before the error. It is an error, too, if the block has more than two
  // updates of the table's size, or one after a field (section 4.2).
  bool Decode(ByteSpan block, FieldSink& sink);

  // Decodes the rest of a block whose beginning, up to the end of a field, the caller knows. The
  // same holds as for Decode.
  bool DecodeRest(ByteSpan rest, FieldSink& sink);

  // Changes with each change of the dynamic table, modulo 2^32. As long as it stays the same, the
  // same bytes mean the same fields.
  uint32_t table_changes() const { return table_.changes(); }

  // Returns the size of those fields at the beginning of the block that end within its first
  // `limit` bytes. Counts none from an update of the table's size or a malformed field on.
  static size_t FieldsWithin(ByteSpan block, size_t limit);

 private:
  class Block;

  bool Resize(Block& in);
  bool Fields(Block& in, FieldSink& sink);
  bool Literal(Block& in, FieldSink& sink);
  template <typename Use>
  bool WithField(size_t index, Use use) const;

  const size_t max_table_bytes_;
  DynamicTable table_;
};

}  // namespace levee::hpack
