// The code that the tests of HPACK share: bytes from text, and both ends of a block as lists of
// fields.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "h2/hpack_decoder.h"
#include "h2/hpack_encoder.h"
#include "wire/metadata.h"

namespace levee::h2 {

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
std::optional<Fields> Decode(HpackDecoder& decoder, ByteSpan block);

// Of a block without error.
std::vector<JudgedField> Judge(HpackDecoder& decoder, ByteSpan block);

Bytes Encode(HpackEncoder& encoder, const Fields& fields);

}  // namespace levee::h2
