// SPDX-License-Identifier: Apache-2.0
#include "h2/block_memory.h"

#include <algorithm>
#include <cstring>

#include "hpack/decoder.h"

namespace levee::h2 {
namespace {

size_t CommonBytes(ByteSpan a, ByteSpan b) {
  const auto differ = std::mismatch(a.begin(), a.begin() + std::min(a.size(), b.size()), b.begin());
  return static_cast<size_t>(differ.first - a.begin());
}

}  // namespace

void BlockMemory::Forget() {
  for (auto& place : places_) place.reset();
  place_ = 0;
}

const BlockMemory::Beginning* BlockMemory::Find(ByteSpan block, BlockKind kind, uint32_t table) {
  if (table != table_) {
    table_ = table;
    Forget();
    return nullptr;
  }
  const Beginning* longest = nullptr;
  for (const auto& place : places_) {
    if (place == nullptr || place->kind != kind || place->bytes.size() > block.size() ||
        (longest != nullptr && longest->bytes.size() >= place->bytes.size())) {
      continue;
    }
    if (std::memcmp(place->bytes.data(), block.data(), place->bytes.size()) == 0)
      longest = place.get();
  }
  if (longest != nullptr) pace_.OnKnown();
  return longest;
}

size_t BlockMemory::Wanted(ByteSpan block, BlockKind kind) {
  if (!pace_.OnUnknown()) return 0;
  // If the block is like one that is known, only what both begin with is worth it.
  size_t wanted = hpack::Decoder::FieldsWithin(block, kLongest);
  size_t place = places_.size();
  for (size_t i = 0; i < places_.size(); ++i) {
    if (places_[i] == nullptr || places_[i]->kind != kind) continue;
    const ByteSpan known(places_[i]->bytes);
    const size_t common = hpack::Decoder::FieldsWithin(block, CommonBytes(block, known));
    if (2 * common < known.size()) continue;
    wanted = common;
    place = i;
  }
  place_ = place < places_.size() ? place : (place_ + 1) % places_.size();
  return wanted;
}

void BlockMemory::Remember(ByteSpan beginning, BlockKind kind, const Metadata& fields,
                           const HeaderRules::Shown& shown) {
  if (fields.ListBytes() > kMostFieldBytes) return;
  auto& place = places_[place_];
  place = std::make_unique<Beginning>();
  place->kind = kind;
  place->bytes.assign(beginning.begin(), beginning.end());
  place->fields.CopyTightly(fields, fields.size());
  place->shown = shown;
}

}  // namespace levee::h2
