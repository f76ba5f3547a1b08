// SPDX-License-Identifier: Apache-2.0
// Header blocks of one connection: what they mean, and what is wrong, is what another library says;
// and what is decoded can be encoded for it.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "base/check.h"
#include "fuzz/byte_source.h"
#include "hpack/peer.h"
#include "hpack/run.h"

namespace levee::hpack {
namespace {

// The peer allows any number of updates of the table's size in front of a block.
bool HasManySizeUpdates(ByteSpan block) {
  int updates = 0;
  while (!block.empty() && (block.front() & 0xe0) == 0x20) {
    ++updates;
    const bool longer = (block.front() & 0x1f) == 0x1f;
    block = block.subspan(1);
    if (!longer) continue;
    while (!block.empty() && block.front() >= 0x80) block = block.subspan(1);
    if (!block.empty()) block = block.subspan(1);
  }
  return updates > 2;
}

void Run(ByteSource bytes) {
  Decoder decoder;
  PeerDecoder peer;
  Encoder encoder;
  PeerDecoder reader;
  while (!bytes.empty()) {
    if (bytes.Below(8) == 0) {
      const size_t size = bytes.Below(8192);
      encoder.SetMaxTableBytes(size);
      reader.SetMaxTableBytes(size);
    }
    const std::string block = bytes.Take(bytes.Byte());
    const ByteSpan span(reinterpret_cast<const uint8_t*>(block.data()), block.size());
    if (HasManySizeUpdates(span)) return;
    std::optional<Fields> fields = Decode(decoder, span);
    LEVEE_CHECK(fields == peer.Decode(span));
    if (!fields.has_value()) return;
    std::erase_if(*fields, [](const NameValue& field) { return field.name.empty(); });
    LEVEE_CHECK(reader.Decode(Encode(encoder, *fields)) == fields);
  }
}

}  // namespace
}  // namespace levee::hpack

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  levee::hpack::Run(levee::ByteSource({data, size}));
  return 0;
}
