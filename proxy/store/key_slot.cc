// SPDX-License-Identifier: Apache-2.0
#include "store/key_slot.h"

#include <array>

namespace levee {
namespace {

constexpr std::array<uint16_t, 256> MakeTable() {
  std::array<uint16_t, 256> table{};
  for (unsigned byte = 0; byte < table.size(); ++byte) {
    unsigned rest = byte << 8;
    for (int bit = 0; bit < 8; ++bit) rest = (rest << 1) ^ ((rest & 0x8000) != 0 ? 0x1021U : 0U);
    table[byte] = static_cast<uint16_t>(rest);
  }
  return table;
}

constexpr std::array<uint16_t, 256> kTable = MakeTable();

}  // namespace

uint16_t Crc16(std::string_view bytes) {
  uint16_t crc = 0;
  for (const char byte : bytes) {
    const unsigned index = (crc >> 8) ^ static_cast<uint8_t>(byte);
    crc = static_cast<uint16_t>((static_cast<unsigned>(crc) << 8) ^ kTable[index]);
  }
  return crc;
}

uint16_t SlotOf(std::string_view key) {
  const size_t open = key.find('{');
  if (open != key.npos) {
    const size_t close = key.find('}', open + 1);
    if (close != key.npos && close > open + 1) key = key.substr(open + 1, close - open - 1);
  }
  return Crc16(key) % kClusterSlots;
}

}  // namespace levee
