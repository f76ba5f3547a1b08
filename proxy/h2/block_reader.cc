// SPDX-License-Identifier: Apache-2.0
#include "h2/block_reader.h"

namespace levee::h2 {

bool BlockReader::Read(ByteSpan block, BlockKind kind, Metadata* fields) {
  if (kind == BlockKind::kIgnored) {
    rules_.Begin(kind, nullptr);
    return decoder_.Decode(block, rules_);
  }
  rules_.Begin(kind, fields);
  if (const auto* known = memory_.Find(block, kind, decoder_.table_changes())) {
    rules_.Resume(known->fields, known->shown);
    return decoder_.DecodeRest(block.subspan(known->bytes.size()), rules_);
  }
  const size_t beginning = memory_.Wanted(block, kind);
  return beginning == 0 ? decoder_.Decode(block, rules_) : Learn(block, beginning, kind, *fields);
}

// Decodes a block and remembers what its first `beginning` bytes mean.
bool BlockReader::Learn(ByteSpan block, size_t beginning, BlockKind kind, const Metadata& fields) {
  const uint32_t table = decoder_.table_changes();
  if (!decoder_.Decode(block.first(beginning), rules_)) return false;
  if (rules_.shown() != nullptr && decoder_.table_changes() == table) {
    memory_.Remember(block.first(beginning), kind, fields, *rules_.shown());
  }
  return decoder_.DecodeRest(block.subspan(beginning), rules_);
}

}  // namespace levee::h2
