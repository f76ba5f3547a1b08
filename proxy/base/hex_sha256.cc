// SPDX-License-Identifier: Apache-2.0
#include "base/hex_sha256.h"

#include <openssl/evp.h>

#include "absl/strings/escaping.h"
#include "base/check.h"

namespace levee {

std::string HexSha256(std::string_view bytes) {
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned int size = 0;
  const int done = EVP_Digest(bytes.data(), bytes.size(), digest, &size, EVP_sha256(), nullptr);
  LEVEE_CHECK(done == 1);
  return absl::BytesToHexString(std::string(digest, digest + size));
}

}  // namespace levee
