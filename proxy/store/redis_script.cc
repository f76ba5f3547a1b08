// SPDX-License-Identifier: Apache-2.0
#include "store/redis_script.h"

#include <openssl/evp.h>

#include <array>

#include "absl/strings/escaping.h"
#include "base/check.h"

namespace levee {
namespace {

// Redis names scripts so.
std::string HexSha1(std::string_view text) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest;
  unsigned int size = 0;
  LEVEE_CHECK(EVP_Digest(text.data(), text.size(), digest.data(), &size, EVP_sha1(), nullptr) == 1);
  return absl::BytesToHexString(
      absl::string_view(reinterpret_cast<const char*>(digest.data()), size));
}

}  // namespace

RedisScript::RedisScript(std::string_view body) : body_(body), sha1_(HexSha1(body)) {}

}  // namespace levee
