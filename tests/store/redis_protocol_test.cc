// SPDX-License-Identifier: Apache-2.0
// Redis' protocol: commands into bytes, and bytes into replies.
#include "store/redis_protocol.h"

#include <malloc.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "store/redis_script.h"

namespace levee {
namespace {

using Kind = RedisReply::Kind;

void Feed(RedisReader& reader, std::string_view bytes) {
  reader.Feed(ByteSpan(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()));
}

TEST(RedisProtocol, ACommandKeepsAnyBytes) {
  const std::string_view words[] = {"SET", std::string_view("a\0\r\nb", 5), ""};
  EXPECT_EQ(FormatRedisCommand(words),
            "*3\r\n$3\r\nSET\r\n$5\r\na" + std::string(1, '\0') + "\r\nb\r\n$0\r\n\r\n");
}

TEST(RedisProtocol, ReadsEveryKindOfReply) {
  RedisReader reader;
  Feed(reader, "+OK\r\n-ERR no\r\n:-7\r\n$2\r\nhi\r\n$-1\r\n*2\r\n:1\r\n*1\r\n$1\r\nx\r\n");
  const auto next = [&] { return **reader.Next(); };
  EXPECT_EQ(next().text, "OK");
  EXPECT_TRUE(next().IsError("ERR"));
  EXPECT_EQ(next().integer, -7);
  const RedisReply text = next();
  EXPECT_EQ(text.kind, Kind::kText);
  EXPECT_EQ(text.text, "hi");
  EXPECT_EQ(next().kind, Kind::kNil);
  const RedisReply list = next();
  ASSERT_EQ(list.list.size(), 2U);
  EXPECT_EQ(list.list[1].list[0].text, "x");
  EXPECT_FALSE(reader.Next()->has_value());
}

TEST(RedisProtocol, AReplyMayComeInPieces) {
  RedisReader reader;
  const std::string_view bytes = "*2\r\n:12\r\n$3\r\nabc\r\n";
  for (size_t i = 0; i + 1 < bytes.size(); ++i) {
    Feed(reader, bytes.substr(i, 1));
    EXPECT_FALSE(reader.Next()->has_value());
  }
  Feed(reader, bytes.substr(bytes.size() - 1));
  EXPECT_EQ((*reader.Next())->list[1].text, "abc");
}

TEST(RedisProtocol, AnotherProtocolIsAnError) {
  RedisReader reader;
  Feed(reader, "HTTP/1.1 400 Bad Request\r\n\r\n");
  EXPECT_FALSE(reader.Next().ok());
}

TEST(RedisProtocol, AListThatIsSaidToBeTooLongIsAnError) {
  RedisReader reader;
  constexpr size_t kMost = RedisReader::kMostMemory / RedisReader::kElementMemory;
  Feed(reader, absl::StrCat("*", kMost, "\r\n:1\r\n"));
  EXPECT_FALSE(reader.Next()->has_value());
  RedisReader longer;
  Feed(longer, absl::StrCat("*", kMost + 1, "\r\n"));
  EXPECT_TRUE(absl::IsResourceExhausted(longer.Next().status()));
}

TEST(RedisProtocol, AReplyTakesNoMoreMemoryThanItsBound) {
  // Of small elements that come in any number the lists are the dearest.
  for (const std::string element :
       {"*1\r\n*0\r\n", "*0\r\n", ":1\r\n", "$16\r\n0123456789abcdef\r\n"}) {
    RedisReader reader;
    Feed(reader, "*4\r\n");
    const size_t before = mallinfo2().uordblks;
    size_t most = 0;
    bool refused = false;
    for (int i = 0; i < 4 * 80'000 - 1 && !refused; ++i) {
      if (i % 80'000 == 0) Feed(reader, "*80000\r\n");
      Feed(reader, element);
      refused = !reader.Next().ok();
      most = std::max(most, mallinfo2().uordblks - before);
    }
    EXPECT_TRUE(refused) << element;
    EXPECT_LT(most, RedisReader::kMostMemory * 5 / 4) << element;
  }
}

TEST(RedisProtocol, TheSlotsOfALargeClusterAreRead) {
  const std::string node =
      "*4\r\n$30\r\n0123456789.0123456789.example.\r\n:6379\r\n"
      "$40\r\n0123456789012345678901234567890123456789\r\n*0\r\n";
  std::string slots = "*3000\r\n";
  for (int i = 0; i < 3000; ++i) slots += "*5\r\n:1\r\n:2\r\n" + node + node + node;
  RedisReader reader;
  Feed(reader, slots);
  EXPECT_EQ((*reader.Next())->list.size(), 3000);
}

TEST(RedisProtocol, TheLongestReplyIsRead) {
  const std::string head = "$5242868\r\n";  // It counts, and so do both line ends.
  const std::string text(RedisReader::kMostBytes - head.size() - 2, 'x');
  RedisReader reader;
  for (int i = 0; i < 2; ++i) {
    Feed(reader, head);
    EXPECT_FALSE(reader.Next()->has_value());
    Feed(reader, text);
    Feed(reader, "\r\n");
    EXPECT_EQ((*reader.Next())->text, text);
  }
}

TEST(RedisProtocol, AReplyIsTooLongHoweverItComes) {
  const std::string line = "+" + std::string(RedisReader::kMostLine + 1, 'x') + "\r\n";
  RedisReader whole, pieces;
  Feed(whole, line);
  EXPECT_TRUE(absl::IsResourceExhausted(whole.Next().status()));
  Feed(pieces, line.substr(0, line.size() - 2));
  EXPECT_TRUE(absl::IsResourceExhausted(pieces.Next().status()));
}

TEST(RedisProtocol, AfterAnErrorNothingIsRead) {
  RedisReader reader;
  Feed(reader, "$5242881\r\n");
  EXPECT_FALSE(reader.Next().ok());
  Feed(reader, "+OK\r\n");
  EXPECT_TRUE(absl::IsResourceExhausted(reader.Next().status()));
}

TEST(RedisScript, IsSentByItsNameOrAsAWhole) {
  const RedisScript script("return 1");
  const std::string_view args[] = {"a\r\nb"};
  const std::string command = script.Command("k", args);
  const std::string_view by_name[] = {"EVALSHA", script.sha1(), "1", "k", "a\r\nb"};
  EXPECT_EQ(command, FormatRedisCommand(by_name));
  const std::string_view as_a_whole[] = {"EVAL", "return 1", "1", "k", "a\r\nb"};
  EXPECT_EQ(script.WithBody(command), FormatRedisCommand(as_a_whole));
}

TEST(RedisScript, IsKnownByItsSha1) {
  EXPECT_EQ(RedisScript("return 1").sha1(), "e0e1f9fabfc9d4800c877a703b823ac0578ff8db");
}

}  // namespace
}  // namespace levee
