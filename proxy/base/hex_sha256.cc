// SPDX-License-Identifier: Apache-2.0
#include "base/hex_sha256.h"

#include "absl/strings/escaping.h"
#include "base/sha256.h"

namespace levee {

std::string HexSha256(std::string_view bytes) {
  Sha256Sum sum;
  sum.Add(bytes);
  const Sha256 digest = sum.End();
  return absl::BytesToHexString(
      absl::string_view(reinterpret_cast<const char*>(digest.data()), digest.size()));
}

}  // namespace levee
