// SPDX-License-Identifier: Apache-2.0
#include "call/first_message.h"

#include <string>
#include <string_view>
#include <vector>

#include "gtest/gtest.h"

namespace levee {
namespace {

Chunk Bytes(std::string_view bytes) {
  return Chunk::Copy({reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()});
}

std::string FramedPayload(std::string_view payload) {
  std::string frame(5, '\0');
  for (int i = 0; i < 4; ++i) frame[4 - i] = static_cast<char>(payload.size() >> (8 * i));
  return frame.append(payload);
}

std::optional<FirstMessage> Read(const std::vector<std::string>& pieces, bool ended = false) {
  std::vector<Chunk> chunks;
  for (const std::string& piece : pieces) chunks.push_back(Bytes(piece));
  return ReadFirstMessage(chunks, ended);
}

TEST(FirstMessage, IsKnownWhenAllOfItHasCome) {
  const std::string frame = FramedPayload("hello");
  EXPECT_FALSE(Read({}).has_value());
  EXPECT_FALSE(Read({frame.substr(0, 4)}).has_value());
  EXPECT_FALSE(Read({frame.substr(0, 9)}).has_value());
  ASSERT_TRUE(Read({frame}).has_value());
  EXPECT_FALSE(Read({frame})->empty);
}

TEST(FirstMessage, IsTheSameHoweverItIsCutAndWhateverFollows) {
  const std::string frame = FramedPayload("hello");
  const uint64_t hash = Read({frame})->hash;
  EXPECT_EQ(Read({frame.substr(0, 3), frame.substr(3, 4), frame.substr(7)})->hash, hash);
  EXPECT_EQ(Read({frame + FramedPayload("another")})->hash, hash);
  EXPECT_NE(Read({FramedPayload("hellO")})->hash, hash);
  EXPECT_NE(Read({FramedPayload("hello!")})->hash, hash);
}

TEST(FirstMessage, OfALongOneTheFirst4KiBAreEnough) {
  const std::string begin(4096 - 5, 'a');
  const auto first = Read({FramedPayload(begin + "b").substr(0, 4096)});
  ASSERT_TRUE(first.has_value());
  EXPECT_EQ(first->hash, Read({FramedPayload(begin + "c")})->hash);
  EXPECT_FALSE(Read({FramedPayload(begin + "b").substr(0, 4095)}).has_value());
}

TEST(FirstMessage, ABodyThatEndsIsComparedAsFarAsItGoes) {
  ASSERT_TRUE(Read({}, /*ended=*/true).has_value());
  EXPECT_TRUE(Read({}, true)->empty);
  EXPECT_TRUE(Read({FramedPayload("")})->empty);
  const std::string frame = FramedPayload("hello");
  EXPECT_NE(Read({frame.substr(0, 9)}, true)->hash, Read({frame})->hash);
}

}  // namespace
}  // namespace levee
