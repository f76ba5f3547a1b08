// SPDX-License-Identifier: Apache-2.0
#include "store/name_digest.h"

#include <openssl/evp.h>

#include <array>

#include "absl/strings/escaping.h"
#include "base/check.h"

namespace levee {

std::string NameDigest(std::string_view text) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest;
  unsigned int size = 0;
  const int done =
      EVP_Digest(text.data(), text.size(), digest.data(), &size, EVP_sha256(), nullptr);
  LEVEE_CHECK(done == 1);
  return absl::BytesToHexString(
      absl::string_view(reinterpret_cast<const char*>(digest.data()), size));
}

}  // namespace levee
