// SPDX-License-Identifier: Apache-2.0
#include "wire/priority.h"

#include <set>
#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "wire/structured_field.h"

namespace levee {
namespace {

TEST(Priority, IsANumberWithAUser) {
  EXPECT_EQ(ParsePriority("0")->number, 0);
  EXPECT_EQ(ParsePriority("127")->number, 127);
  EXPECT_EQ(ParsePriority("7")->user, "");
  EXPECT_EQ(ParsePriority("32;u=\"alice; \\\"a\\\"\"")->user, "alice; \"a\"");
  EXPECT_EQ(ParsePriority("32; u=alice")->user, "alice");
  EXPECT_EQ(ParsePriority("32;u=17")->user, "17");
  EXPECT_EQ(ParsePriority(" 32;a;b=2;u=x;c=\"d\" ")->user, "x");
  EXPECT_EQ(ParsePriority("32;u")->user, "");
  EXPECT_EQ(ParsePriority("32;u=x;u=y")->user, "y");  // RFC 8941: the last one counts
}

TEST(Priority, MalformedTextIsNone) {
  for (const char* text :
       {"", "a", "-1", "128", "99999999999", "1.5", "1,2", "1 2", "1;", "1;U=x", "1;u=", "1;u=\"x",
        "1;u=\"x\\", "1;u=\"\n\"", "1;u=x y", "1.0", "(1)", "\"1\""}) {
    EXPECT_FALSE(ParsePriority(text).has_value()) << text;
  }
}

TEST(Priority, OfAVeryLongUserIsNone) {
  EXPECT_TRUE(ParsePriority("1;u=" + std::string(kMaxStructuredBytes - 4, 'x')).has_value());
  EXPECT_FALSE(ParsePriority("1;u=" + std::string(kMaxStructuredBytes - 3, 'x')).has_value());
}

TEST(Priority, TheCallsOfAUserHaveOneHashInAnHourAndAnotherInTheNext) {
  EXPECT_EQ(HashOfUser("alice", 7), HashOfUser("alice", 7));
  EXPECT_NE(HashOfUser("alice", 7), HashOfUser("alice", 8));
  EXPECT_NE(HashOfUser("alice", 7), HashOfUser("bob", 7));
}

TEST(Priority, HashesOfUsersAreSpreadEvenly) {
  constexpr int kUsers = 10'000;
  int low = 0;
  std::set<uint64_t> all;
  for (int i = 0; i < kUsers; ++i) {
    const uint64_t hash = HashOfUser(absl::StrCat("user-", i), 0);
    low += hash < UINT64_MAX / 2;
    all.insert(hash >> 8);
  }
  EXPECT_EQ(all.size(), kUsers);
  EXPECT_NEAR(low, kUsers / 2, 250);  // five standard deviations
}

}  // namespace
}  // namespace levee
