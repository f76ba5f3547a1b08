// SPDX-License-Identifier: Apache-2.0
// The encoder of HPACK (RFC 7541): it makes header blocks of fields.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "hpack/table.h"
#include "hpack/written_blocks.h"
#include "wire/metadata.h"

namespace levee::hpack {

// Encodes one direction of one connection. One thread. Strings are never Huffman-coded: between a
// sidecar and its neighbours, more bytes cost less than the time that both sides need for the code.
//
// The encoder remembers the fields that it lately sent as literals. A field enters the dynamic
// table in one of two cases. The first: it is among the remembered fields. So values that never
// come again (ids, timeouts) push nothing out of the table. The second: its name is among the
// remembered names and is in neither table. So the name of such a value need not be sent each time.
// A field longer than kLongestEntry never enters. A field is marked "never indexed" only if the
// caller marked it.
//
// Several callers share the table of a connection to an upstream. An attacker who makes requests
// and sees how many bytes the connection carries might guess the values of other callers' fields,
// whole value by whole value (RFC 7541, section 7.1). Therefore fields that authenticate
// (authorization, proxy-authorization, cookie, set-cookie) never enter the table, however often
// they come, and neither do fields that a caller has marked "never indexed".
//
// The same calls give the same bytes. The work is linear in the bytes of the fields, whatever the
// fields are.
class Encoder {
 public:
  Encoder();
  ~Encoder();
  Encoder(const Encoder&) = delete;
  Encoder& operator=(const Encoder&) = delete;

  // Takes the peer's SETTINGS_HEADER_TABLE_SIZE, of which at most kMaxTableBytes are used. The next
  // block begins with the least of the sizes since the last block, and the last of them
  // (section 4.2).
  void SetMaxTableBytes(size_t bytes);

  // Returns the largest number of bytes that a block for `fields` can have.
  static size_t Bound(const Metadata& fields);

  // Writes the block for `fields` to `out`, which has room for Bound(fields). Returns its size.
  size_t Encode(const Metadata& fields, uint8_t* out);

  // The sum of the bytes of name and value, and 32.
  static constexpr size_t kLongestEntry = 1024;

 private:
  // Guesses of the places that fields and names have in the tables, and the fields lately sent as
  // literals. Each guess is checked before it is used. A missing guess costs some bytes and nothing
  // else.
  struct Memory;

  // A place in a table. In the static table: the index. In the dynamic one: kDynamic plus the
  // number of insertions before that of the entry, modulo 2^15.
  using Place = uint16_t;
  static constexpr Place kNowhere = 0;
  static constexpr Place kDynamic = 0x8000;

  uint8_t* WriteSizes(uint8_t* out);
  uint8_t* WriteField(const Metadata::Field& field, Place& last, uint8_t* out);
  uint8_t* WriteBeginning(const Metadata& fields, size_t& next, Place& last, uint8_t* out);
  uint8_t* WriteUnexpected(const Metadata::Field& field, Place& last, uint8_t* out);
  size_t AgeOf(Place place) const;
  size_t IndexAt(Place place, const Metadata::Field& field) const;
  Place FindField(uint64_t hash, const Metadata::Field& field) const;
  size_t FindName(uint64_t hash, std::string_view name) const;
  void Remember(uint64_t hash, Place place);
  bool Enters(const Metadata::Field& field, size_t name_index, uint64_t name_hash, uint64_t hash);

  DynamicTable table_;
  WrittenBlocks written_;
  std::unique_ptr<Memory> memory_;  // from the first block on
  // Sizes to tell the peer.
  size_t least_bytes_ = kMaxTableBytes;
  size_t last_bytes_ = kMaxTableBytes;
};

}  // namespace levee::hpack
