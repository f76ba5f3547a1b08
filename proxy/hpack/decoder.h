// SPDX-License-Identifier: Apache-2.0
// HPACK (RFC 7541): header blocks into fields.
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
  // IsWellFormedName and IsWellFormedValue hold. Spaces around the value are allowed here, since
  // gRPC's metadata may have them.
  bool well_formed = true;
  bool never_index = false;
};

// Gets the fields of a block in their order. The views are valid during the call only.
class FieldSink {
 public:
  virtual void OnField(const DecodedField& field) = 0;

 protected:
  ~FieldSink() = default;
};

// Decodes one direction of one connection. One thread. Memory: that of the table, none before its
// first entry; and room for Huffman-coded strings while a block that has them is decoded.
class Decoder {
 public:
  // `max_table_bytes`: what this side's SETTINGS_HEADER_TABLE_SIZE allows the peer, at most
  // kMaxTableBytes. The table has that size until the peer says otherwise.
  explicit Decoder(size_t max_table_bytes = kMaxTableBytes);

  // Decodes one whole block. False: a compression error, after which the connection cannot go on.
  // The sink may have been given the fields before the error. Updates of the table's size are an
  // error if there are more than two, or one behind a field (section 4.2).
  bool Decode(ByteSpan block, FieldSink& sink);

 private:
  class Block;

  bool Resize(Block& in);
  bool Literal(Block& in, FieldSink& sink);
  template <typename Use>
  bool WithField(size_t index, Use use) const;

  const size_t max_table_bytes_;
  DynamicTable table_;
};

}  // namespace levee::hpack
