// SPDX-License-Identifier: Apache-2.0
#include "base/sha256.h"

namespace levee {

// OpenSSL calls the functions without allocations deprecated, but all of OpenSSL 3 has them.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

Sha256Sum::Sha256Sum() { SHA256_Init(&context_); }

void Sha256Sum::Add(std::string_view bytes) {
  SHA256_Update(&context_, bytes.data(), bytes.size());
}

Sha256 Sha256Sum::End() {
  Sha256 digest;
  SHA256_Final(digest.data(), &context_);
  return digest;
}

#pragma GCC diagnostic pop

}  // namespace levee
