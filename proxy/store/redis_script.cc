// SPDX-License-Identifier: Apache-2.0
#include "store/redis_script.h"

#include <openssl/evp.h>

#include <array>

#include "absl/container/inlined_vector.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/text.h"
#include "store/redis_protocol.h"

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

std::string RedisScript::Command(std::string_view key,
                                 std::span<const std::string_view> args) const {
  absl::InlinedVector<std::string_view, 8> words = {"EVALSHA", sha1_, "1", key};
  words.insert(words.end(), args.begin(), args.end());
  return FormatRedisCommand(words);
}

std::string RedisScript::WithBody(std::string_view command) const {
  const size_t line = command.find('\n') + 1;
  const size_t name = command.find(sha1_);
  LEVEE_CHECK(line != 0 && name != std::string_view::npos);
  return absl::StrCat(Abseil(command.substr(0, line)), "$4\r\nEVAL\r\n$", body_.size(), "\r\n",
                      body_, Abseil(command.substr(name + sha1_.size())));
}

}  // namespace levee
