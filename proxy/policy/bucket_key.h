// SPDX-License-Identifier: Apache-2.0
// The key of a bucket, of bounded length.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

namespace levee {

// A call's key as a bucket table keeps it. Callers choose their header values, so a key of
// kMaxBytes or more is replaced by its first bytes and a hash of the whole key, kMaxBytes together.
// If keys were only cut, all tokens that begin alike would share one bucket. Two long keys share a
// bucket only if their 64-bit hashes are equal too. Shorter keys are kept as they are.
class BucketKey {
 public:
  static constexpr size_t kMaxBytes = 256;

  // `key` must outlive this.
  explicit BucketKey(std::string_view key);
  BucketKey(const BucketKey&) = delete;
  BucketKey& operator=(const BucketKey&) = delete;

  std::string_view text() const { return text_; }

 private:
  std::string_view text_;
  std::array<char, kMaxBytes> replaced_;  // text_, if the key was too long; otherwise unused
};

}  // namespace levee
