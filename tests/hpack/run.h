// SPDX-License-Identifier: Apache-2.0
// Shared by the tests of HPACK: bytes from text, and both ends of a block as lists of fields.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hpack/decoder.h"
#include "hpack/encoder.h"
#include "wire/metadata.h"

namespace levee::hpack {

using Bytes = std::vector<uint8_t>;

// Hexadecimal digits, with spaces between them anywhere.
Bytes FromHex(std::string_view digits);

struct NameValue {
  std::string name;
  std::string value;
  bool never_index = false;
  bool operator==(const NameValue&) const = default;
};
using Fields = std::vector<NameValue>;

void PrintTo(const NameValue& field, std::ostream* out);

// A decoded field with what was found out about it.
struct JudgedField {
  std::string name;
  std::string value;
  FieldKind kind;
  bool well_formed;
};

// All fields of the block in order, nullopt if it has a compression error.
std::optional<Fields> Decode(Decoder& decoder, ByteSpan block);

// Of a block without error.
std::vector<JudgedField> Judge(Decoder& decoder, ByteSpan block);

Bytes Encode(Encoder& encoder, const Fields& fields);

}  // namespace levee::hpack
