// SPDX-License-Identifier: Apache-2.0
// The slot of a key in a Redis cluster.
#pragma once

#include <cstdint>
#include <string_view>

namespace levee {

inline constexpr uint16_t kClusterSlots = 16384;

// CRC-16/XMODEM: polynomial 0x1021, starting from 0, nothing reflected.
uint16_t Crc16(std::string_view bytes);

// Returns the slot, below kClusterSlots. Of a key with a hash tag, "...{tag}...", the tag alone
// decides: what stands between the first '{' and the first '}' behind it, unless that is nothing.
uint16_t SlotOf(std::string_view key);

}  // namespace levee
