// SPDX-License-Identifier: Apache-2.0
#include "call/first_message.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

#include "absl/hash/hash.h"

namespace levee {
namespace {

constexpr size_t kPrefix = 5;  // a flag, and the length in four bytes
constexpr size_t kCompared = 4096;

size_t LengthIn(const uint8_t* prefix) {
  return size_t{prefix[1]} << 24 | size_t{prefix[2]} << 16 | size_t{prefix[3]} << 8 | prefix[4];
}

}  // namespace

std::optional<FirstMessage> ReadFirstMessage(std::span<const Chunk> body, bool ended) {
  // A message may come in pieces that are cut elsewhere the next time.
  std::array<uint8_t, kCompared> bytes;
  size_t size = 0;
  for (const Chunk& chunk : body) {
    const size_t taken = std::min(chunk.size(), kCompared - size);
    std::copy_n(chunk.data(), taken, bytes.data() + size);
    size += taken;
  }
  const size_t length = size < kPrefix ? 0 : LengthIn(bytes.data());
  const size_t wanted = std::min(kPrefix + length, kCompared);
  if (size < wanted && !ended) return std::nullopt;
  const std::string_view compared(reinterpret_cast<const char*>(bytes.data()),
                                  std::min(size, wanted));
  return FirstMessage{.hash = absl::HashOf(compared), .empty = length == 0};
}

}  // namespace levee
