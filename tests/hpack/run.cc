// SPDX-License-Identifier: Apache-2.0
#include "hpack/run.h"

#include <ostream>

#include "base/check.h"

namespace levee::hpack {
namespace {

class Collector final : public FieldSink {
 public:
  bool OnField(const DecodedField& field) override {
    fields.push_back({std::string(field.name), std::string(field.value), field.never_index});
    judged.push_back(
        {std::string(field.name), std::string(field.value), field.kind, field.well_formed()});
    return true;
  }

  Fields fields;
  std::vector<JudgedField> judged;
};

}  // namespace

Bytes FromHex(std::string_view digits) {
  Bytes bytes;
  int high = -1;
  for (const char c : digits) {
    if (c == ' ') continue;
    const int digit = c <= '9' ? c - '0' : c - 'a' + 10;
    if (high >= 0) bytes.push_back(static_cast<uint8_t>(high << 4 | digit));
    high = high >= 0 ? -1 : digit;
  }
  LEVEE_CHECK(high < 0);
  return bytes;
}

void PrintTo(const NameValue& field, std::ostream* out) {
  *out << field.name << ": " << field.value << (field.never_index ? " (never indexed)" : "");
}

std::optional<Fields> Decode(Decoder& decoder, ByteSpan block) {
  Collector sink;
  if (!decoder.Decode(block, sink)) return std::nullopt;
  return sink.fields;
}

std::vector<JudgedField> Judge(Decoder& decoder, ByteSpan block) {
  Collector sink;
  LEVEE_CHECK(decoder.Decode(block, sink));
  return sink.judged;
}

Bytes Encode(Encoder& encoder, const Fields& fields) {
  Metadata metadata;
  for (const NameValue& field : fields) metadata.Add(field.name, field.value, field.never_index);
  Bytes block(Encoder::Bound(metadata));
  block.resize(encoder.Encode(metadata, block.data()));
  return block;
}

}  // namespace levee::hpack
