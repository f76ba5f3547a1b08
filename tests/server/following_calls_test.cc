// SPDX-License-Identifier: Apache-2.0
#include "server/following_calls.h"

#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace levee {
namespace {

using testing::IsEmpty;
using testing::UnorderedElementsAre;

// They are told apart by where they are, and not looked at.
RpcStream& NthCall(int number) {
  static char calls[100];
  return *reinterpret_cast<RpcStream*>(&calls[number]);
}

TEST(FollowingCalls, AreFoundByTheirTrace) {
  FollowingCalls following;
  for (const int number : {1, 2, 3}) following.Add(7, NthCall(number));
  following.Add(8, NthCall(4));
  EXPECT_THAT(following.Of(7), UnorderedElementsAre(&NthCall(1), &NthCall(2), &NthCall(3)));
  EXPECT_THAT(following.Of(8), UnorderedElementsAre(&NthCall(4)));
  EXPECT_THAT(following.Of(6), IsEmpty());
}

TEST(FollowingCalls, OneThatEndsIsForgottenAndNoOther) {
  FollowingCalls following;
  for (const int number : {1, 2, 3}) following.Add(7, NthCall(number));
  following.Remove(7, NthCall(2));
  following.Remove(7, NthCall(2));
  following.Remove(6, NthCall(1));
  EXPECT_THAT(following.Of(7), UnorderedElementsAre(&NthCall(1), &NthCall(3)));
}

}  // namespace
}  // namespace levee
