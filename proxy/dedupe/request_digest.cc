// SPDX-License-Identifier: Apache-2.0
#include "dedupe/request_digest.h"

#include "base/check.h"

namespace levee {

namespace {

// OpenSSL looks an algorithm up by its name, which takes longer than a short digest does. It stays
// until the process ends.
const EVP_MD* Algorithm() {
  static const EVP_MD* const algorithm = EVP_MD_fetch(nullptr, "SHA256", nullptr);
  return algorithm;
}

}  // namespace

RequestDigest::RequestDigest(std::string_view method) : context_(EVP_MD_CTX_new()) {
  LEVEE_CHECK(EVP_DigestInit_ex(context_.get(), Algorithm(), nullptr) == 1);
  EVP_DigestUpdate(context_.get(), method.data(), method.size());
  // No method has this byte, so that no message can continue the method.
  EVP_DigestUpdate(context_.get(), "", 1);
}

void RequestDigest::Add(const Chunk& piece) {
  EVP_DigestUpdate(context_.get(), piece.data(), piece.size());
}

Sha256 RequestDigest::End() {
  Sha256 digest;
  LEVEE_CHECK(EVP_DigestFinal_ex(context_.get(), digest.data(), nullptr) == 1);
  return digest;
}

}  // namespace levee
