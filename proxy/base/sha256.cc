// SPDX-License-Identifier: Apache-2.0
#define OPENSSL_SUPPRESS_DEPRECATED  // All of OpenSSL 3 has the functions without allocations.

#include "base/sha256.h"

namespace levee {

Sha256Sum::Sha256Sum() { SHA256_Init(&context_); }

void Sha256Sum::Add(std::string_view bytes) {
  SHA256_Update(&context_, bytes.data(), bytes.size());
}

Sha256 Sha256Sum::End() {
  Sha256 digest;
  SHA256_Final(digest.data(), &context_);
  return digest;
}

}  // namespace levee
