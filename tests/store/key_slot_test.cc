// SPDX-License-Identifier: Apache-2.0
#include "store/key_slot.h"

#include <string>

#include "config/temporary_folder.h"
#include "gtest/gtest.h"
#include "store/redis_process.h"

namespace levee {
namespace {

// The check value of CRC-16/XMODEM, and two that Redis' cluster specification gives.
TEST(KeySlot, TheChecksumIsThatOfThePublishedVectors) {
  EXPECT_EQ(Crc16("123456789"), 0x31C3);
  EXPECT_EQ(Crc16(""), 0);
  EXPECT_EQ(Crc16("A"), 0x58E5);
  EXPECT_EQ(SlotOf("foo"), 12182);
  EXPECT_EQ(SlotOf("somekey"), 11058);
}

TEST(KeySlot, AHashTagAloneDecides) {
  EXPECT_EQ(SlotOf("{user1000}.following"), SlotOf("{user1000}.followers"));
  EXPECT_EQ(SlotOf("a{user1000}b{c}"), SlotOf("user1000"));
  EXPECT_EQ(SlotOf("foo{{bar}}zap"), SlotOf("{bar"));
  EXPECT_NE(SlotOf("foo{}{bar}"), SlotOf("bar"));  // Nothing is no tag.
  EXPECT_EQ(SlotOf("foo{bar"), Crc16("foo{bar") % kClusterSlots);
  EXPECT_EQ(SlotOf("foo}bar{"), Crc16("foo}bar{") % kClusterSlots);
}

TEST(KeySlot, ARealServerHasTheSameSlots) {
  if (!HasRedis()) GTEST_SKIP() << "redis-server is not installed";
  const TemporaryFolder folder;
  const RedisProcess redis({"--dir", folder.path(), "--cluster-enabled", "yes", "--cluster-port",
                            RedisProcess::kOtherPort});
  for (const char* key :
       {"foo", "levee:rate:p/l:tenant", "{a}b", "a{}b", "{}", "a{b}c{d}", "x{y"}) {
    EXPECT_EQ(redis.Command({"CLUSTER", "KEYSLOT", key}), std::to_string(SlotOf(key)) + "\n");
  }
}

}  // namespace
}  // namespace levee
