// SPDX-License-Identifier: Apache-2.0
// Tells whether two calls with one idempotency key are the same request.
#pragma once

#include <openssl/evp.h>

#include <array>
#include <cstdint>
#include <memory>
#include <string_view>

#include "base/chunk.h"

namespace levee {

using Sha256 = std::array<uint8_t, 32>;

// SHA-256 of a call's method and messages, taken as they come.
class RequestDigest {
 public:
  explicit RequestDigest(std::string_view method);

  void Add(const Chunk& piece);

  // The request is complete. To be called once, last.
  Sha256 End();

 private:
  struct Free {
    void operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }
  };
  std::unique_ptr<EVP_MD_CTX, Free> context_;
};

}  // namespace levee
