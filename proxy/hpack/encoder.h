// SPDX-License-Identifier: Apache-2.0
// HPACK (RFC 7541): fields into header blocks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "hpack/table.h"
#include "wire/metadata.h"

namespace levee::hpack {

// Encodes one direction of one connection. One thread. Strings are never Huffman-coded: between a
// sidecar and its neighbours, bytes cost less than the time of both ends.
//
// A field enters the dynamic table when it comes for the second time within a short memory, so that
// values that never come again (ids, timeouts) push nothing out of it; or when its name does and is
// in neither table, so that such values need not bring their name each time. A field longer than
// kLongestEntry never enters. A field is marked "never indexed" only if the caller had marked it.
//
// Several callers share the table of a connection to an upstream. An attacker who makes requests
// and sees how many bytes the connection carries might guess the values of other callers' fields,
// whole value by whole value (RFC 7541, section 7.1). Therefore fields that authenticate
// (authorization, proxy-authorization, cookie, set-cookie) never enter the table, however often
// they come, and neither do fields that a caller has marked "never indexed".
//
// The same calls give the same bytes. Whatever the fields, the work is linear in their bytes.
class Encoder {
 public:
  Encoder();
  ~Encoder();
  Encoder(const Encoder&) = delete;
  Encoder& operator=(const Encoder&) = delete;

  // The peer's SETTINGS_HEADER_TABLE_SIZE; at most kMaxTableBytes of it are used. The next block
  // says so (section 4.2: first the least of the sizes since the last block, then the last).
  void SetMaxTableBytes(size_t bytes);

  // The most bytes that a block for `fields` can have.
  static size_t Bound(const Metadata& fields);

  // Writes the block for `fields` to `out`, which has room for Bound(fields). Returns its size.
  size_t Encode(const Metadata& fields, uint8_t* out);

  // Name, value and 32 bytes.
  static constexpr size_t kLongestEntry = 1024;

 private:
  // Guesses where fields and names are in the tables, and the fields lately sent as literals. Each
  // guess is checked before it is used; one that is missing costs some bytes and nothing else.
  struct Memory;

  // A place in a table. In the static table: the index. In the dynamic one: kDynamic plus the
  // number of insertions before that of the entry, modulo 2^15.
  using Place = uint16_t;
  static constexpr Place kNowhere = 0;
  static constexpr Place kDynamic = 0x8000;

  uint8_t* WriteSizes(uint8_t* out);
  uint8_t* WriteUnexpected(const Metadata::Field& field, Place& last, uint8_t* out);
  size_t AgeOf(Place place) const;
  size_t IndexAt(Place place, const Metadata::Field& field) const;
  Place FindField(uint64_t hash, const Metadata::Field& field) const;
  size_t FindName(uint64_t hash, std::string_view name) const;
  void Remember(uint64_t hash, Place place);
  bool Enters(const Metadata::Field& field, size_t name_index, uint64_t name_hash, uint64_t hash);

  DynamicTable table_;
  std::unique_ptr<Memory> memory_;  // from the first block on
  // Sizes to tell the peer.
  size_t least_bytes_ = kMaxTableBytes;
  size_t last_bytes_ = kMaxTableBytes;
};

}  // namespace levee::hpack
