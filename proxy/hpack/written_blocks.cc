// SPDX-License-Identifier: Apache-2.0
#include "hpack/written_blocks.h"

#include <utility>

namespace levee::hpack {

const WrittenBlocks::Beginning* WrittenBlocks::Find(const Metadata& fields, uint32_t table) {
  if (table != table_) {
    table_ = table;
    for (auto& place : places_) place.reset();
    return nullptr;
  }
  const Beginning* longest = nullptr;
  for (const auto& place : places_) {
    if (place == nullptr || (longest != nullptr && longest->bytes.size() >= place->bytes.size()))
      continue;
    if (fields.BeginsWith(place->fields)) longest = place.get();
  }
  if (longest != nullptr) pace_.OnKnown();
  return longest;
}

void WrittenBlocks::Remember(const Metadata& fields, size_t count, const uint8_t* bytes,
                             size_t size, uint16_t last) {
  if (count == 0 || size > kLongest) return;
  auto beginning = std::make_unique<Beginning>();
  beginning->fields.CopyTightly(fields, count);
  if (beginning->fields.ListBytes() > kMostFieldBytes) return;
  beginning->bytes.assign(bytes, bytes + size);
  beginning->last = last;
  places_[place_++ % kPlaces] = std::move(beginning);
}

}  // namespace levee::hpack
