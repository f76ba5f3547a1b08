// SPDX-License-Identifier: Apache-2.0
#include "policy/bucket_key.h"

#include <cstdint>
#include <cstring>

#include "absl/hash/hash.h"

namespace levee {

BucketKey::BucketKey(std::string_view key) : text_(key) {
  if (key.size() < kMaxBytes) return;
  const uint64_t hash = absl::HashOf(key);
  const size_t kept = kMaxBytes - sizeof(hash);
  std::memcpy(replaced_.data(), key.data(), kept);
  std::memcpy(replaced_.data() + kept, &hash, sizeof(hash));
  text_ = {replaced_.data(), replaced_.size()};
}

}  // namespace levee
