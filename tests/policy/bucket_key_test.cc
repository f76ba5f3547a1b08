// SPDX-License-Identifier: Apache-2.0
// Keys of buckets: short ones as they are, long ones bounded but still told apart.
#include "policy/bucket_key.h"

#include <string>

#include "gtest/gtest.h"

namespace levee {
namespace {

std::string Text(const std::string& key) { return std::string(BucketKey(key).text()); }

TEST(BucketKey, AShortKeyStandsForItself) {
  EXPECT_EQ(Text(""), "");
  EXPECT_EQ(Text(std::string(255, 'k')), std::string(255, 'k'));
}

TEST(BucketKey, ALongKeyTakes256Bytes) {
  EXPECT_EQ(Text(std::string(256, 'k')).size(), 256);
  EXPECT_EQ(Text(std::string(257, 'k')).size(), 256);
  EXPECT_EQ(Text(std::string(16'384, 'k')).size(), 256);
}

TEST(BucketKey, LongKeysThatBeginAlikeDiffer) {
  const std::string begin(1000, 'k');
  EXPECT_EQ(Text(begin + "a"), Text(begin + "a"));
  EXPECT_NE(Text(begin + "a"), Text(begin + "b"));
  EXPECT_NE(Text(begin), Text(begin + "k"));
  EXPECT_NE(Text(std::string(256, 'k')), std::string(256, 'k'));
}

}  // namespace
}  // namespace levee
