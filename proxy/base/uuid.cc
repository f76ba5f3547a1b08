// SPDX-License-Identifier: Apache-2.0
#include "base/uuid.h"

#include <cstddef>
#include <cstdint>

namespace levee {

std::string RandomUuid(Random& random) {
  constexpr char kHex[] = "0123456789abcdef";
  // Digits of the two random words take the places of x and y. y also says that the variant is that
  // of RFC 9562.
  std::string text = "xxxxxxxx-xxxx-4xxx-yxxx-xxxxxxxxxxxx";
  uint64_t bits = random.Next();
  int left = 16;
  for (char& place : text) {
    if (place != 'x' && place != 'y') continue;
    if (left == 0) {
      bits = random.Next();
      left = 16;
    }
    const size_t digit = bits & 0xf;
    place = kHex[place == 'y' ? (digit & 0x3) | 0x8 : digit];
    bits >>= 4;
    --left;
  }
  return text;
}

}  // namespace levee
