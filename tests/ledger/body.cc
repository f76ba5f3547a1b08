// SPDX-License-Identifier: Apache-2.0
#include "ledger/body.h"

#include <vector>

namespace levee::ledger {
namespace {

constexpr size_t kOffsets = 65'536;
constexpr size_t kMaxBodyBytes = 32 * 1024;

const std::vector<uint8_t>& Table() {
  static const std::vector<uint8_t> table = [] {
    std::vector<uint8_t> bytes(kOffsets + kMaxBodyBytes);
    uint64_t x = 88'172'645'463'325'252;
    for (uint8_t& byte : bytes) {
      x ^= x << 13;
      x ^= x >> 7;
      x ^= x << 17;
      byte = static_cast<uint8_t>(x);
    }
    return bytes;
  }();
  return table;
}

}  // namespace

Body::Body(uint64_t id, Direction direction, size_t size)
    : size_(size),
      offset_((id * 0x9e3779b97f4a7c15 + static_cast<uint64_t>(direction) * 7919) % kOffsets) {
  for (size_t i = 0; i < 4; ++i) head_[4 - i] = static_cast<uint8_t>(size >> (8 * i));
  std::memcpy(head_ + kPrefixBytes, &id, sizeof id);
}

std::span<const uint8_t> Body::Stretch(size_t at) const {
  const size_t head = std::min(sizeof head_, total());
  if (at < head) return {head_ + at, head - at};
  return {Table().data() + offset_ + at, total() - at};
}

size_t Body::Read(size_t at, std::span<uint8_t> to) const {
  size_t done = 0;
  while (done < to.size() && at + done < total()) {
    const auto from = Stretch(at + done);
    const size_t size = std::min(from.size(), to.size() - done);
    std::copy_n(from.data(), size, to.data() + done);
    done += size;
  }
  return done;
}

bool Body::Matches(size_t at, std::span<const uint8_t> bytes) const {
  while (!bytes.empty()) {
    if (at >= total()) return false;
    const auto expected = Stretch(at);
    const size_t size = std::min(expected.size(), bytes.size());
    if (!std::equal(bytes.begin(), bytes.begin() + static_cast<ptrdiff_t>(size),
                    expected.begin())) {
      return false;
    }
    at += size;
    bytes = bytes.subspan(size);
  }
  return true;
}

}  // namespace levee::ledger
