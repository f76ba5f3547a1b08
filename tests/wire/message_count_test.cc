// SPDX-License-Identifier: Apache-2.0
#include "wire/message_count.h"

#include <string>

#include "gtest/gtest.h"

namespace levee {
namespace {

Chunk Piece(const std::string& bytes) {
  return Chunk::Copy({reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()});
}
const std::string kAbc("\0\0\0\0\3abc", 8);

TEST(MessageCount, ABodyOfOneMessageInPiecesIsNoStream) {
  MessageCount count;
  EXPECT_TRUE(count.AtMostOne());
  EXPECT_FALSE(count.IsStream());
  count.Add(Piece(kAbc.substr(0, 6)));
  EXPECT_FALSE(count.AtMostOne());
  EXPECT_FALSE(count.IsStream());
  count.Add(Piece(kAbc.substr(6)));
  EXPECT_TRUE(count.AtMostOne());
  EXPECT_FALSE(count.IsStream());
}

TEST(MessageCount, ASecondMessageMakesAStream) {
  MessageCount count;
  count.Add(Piece(kAbc));
  count.Add(Piece(kAbc.substr(0, 1)));
  EXPECT_TRUE(count.IsStream());
  EXPECT_FALSE(count.AtMostOne());
}

TEST(MessageCount, APrefixInPiecesIsRead) {
  MessageCount count;
  for (const char byte : kAbc) {
    EXPECT_FALSE(count.HasOne());
    count.Add(Piece(std::string(1, byte)));
    EXPECT_FALSE(count.IsStream());
  }
  EXPECT_TRUE(count.HasOne());
  EXPECT_TRUE(count.AtMostOne());
  count.Add(Piece("\1"));
  EXPECT_TRUE(count.IsStream());
}

TEST(MessageCount, AnEmptyMessageIsOne) {
  MessageCount count;
  EXPECT_FALSE(count.HasOne());
  count.Add(Piece(std::string(5, '\0')));
  EXPECT_TRUE(count.HasOne());
  EXPECT_TRUE(count.AtMostOne());
}

}  // namespace
}  // namespace levee
