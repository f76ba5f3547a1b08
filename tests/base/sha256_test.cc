// SPDX-License-Identifier: Apache-2.0
// SHA-256 of bytes that come in pieces.
#include "base/sha256.h"

#include <string>
#include <string_view>

#include "absl/strings/escaping.h"
#include "base/hex_sha256.h"
#include "gtest/gtest.h"

namespace levee {
namespace {

std::string Hex(const Sha256& digest) {
  return absl::BytesToHexString(
      absl::string_view(reinterpret_cast<const char*>(digest.data()), digest.size()));
}

// The examples of FIPS 180-4.
TEST(Sha256Sum, IsThatOfTheStandardHoweverTheBytesCome) {
  EXPECT_EQ(HexSha256("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  const std::string_view text = "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";
  Sha256Sum sum;
  for (const char byte : text) sum.Add({&byte, 1});
  const std::string expected = "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1";
  EXPECT_EQ(Hex(sum.End()), expected);
  EXPECT_EQ(HexSha256(text), expected);
}

TEST(Sha256Sum, OfNothingIsOneToo) {
  EXPECT_EQ(Hex(Sha256Sum().End()),
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}

}  // namespace
}  // namespace levee
