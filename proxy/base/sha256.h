// SPDX-License-Identifier: Apache-2.0
// SHA-256 (FIPS 180-4) of bytes that come in pieces.
#pragma once

#include <openssl/sha.h>

#include <array>
#include <cstdint>
#include <string_view>

namespace levee {

using Sha256 = std::array<uint8_t, 32>;

// One thread. OpenSSL's newer functions (EVP) allocate twice for each digest, which takes longer
// than the digest of a short text does.
class Sha256Sum {
 public:
  Sha256Sum();

  void Add(std::string_view bytes);

  // To be called once, last.
  Sha256 End();

 private:
  SHA256_CTX context_;
};

}  // namespace levee
