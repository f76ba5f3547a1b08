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

TEST(MessageCount, APrefixInPiecesIsNotRead) {
  MessageCount count;
  count.Add(Piece(kAbc.substr(0, 2)));
  count.Add(Piece(kAbc.substr(2)));
  EXPECT_FALSE(count.AtMostOne());
  EXPECT_FALSE(count.IsStream());
}

}  // namespace
}  // namespace levee
