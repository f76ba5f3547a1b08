// SPDX-License-Identifier: Apache-2.0
// Tells whether two calls with one idempotency key are the same request.
#pragma once

#include <string_view>

#include "base/chunk.h"
#include "base/sha256.h"

namespace levee {

// SHA-256 of a call's method and messages, taken as they come.
class RequestDigest {
 public:
  explicit RequestDigest(std::string_view method) {
    sum_.Add(method);
    // No method has this byte, so that no message can continue the method.
    sum_.Add(std::string_view("", 1));
  }

  void Add(const Chunk& piece) {
    sum_.Add({reinterpret_cast<const char*>(piece.data()), piece.size()});
  }

  // The request is complete. To be called once, last.
  Sha256 End() { return sum_.End(); }

 private:
  Sha256Sum sum_;
};

}  // namespace levee
