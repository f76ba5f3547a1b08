// SPDX-License-Identifier: Apache-2.0
#include "config/suggest.h"

#include "gtest/gtest.h"

namespace levee {
namespace {

TEST(Suggest, NearestWins) {
  EXPECT_EQ(Suggestion("crat", {"card", "cart", "chart"}, "there are"), "; did you mean cart?");
  EXPECT_EQ(Suggestion("max_atempts", {"max", "max_attempts"}, "there are"),
            "; did you mean max_attempts?");
}

TEST(Suggest, CaseAndSeparatorsDoNotCount) {
  EXPECT_EQ(Suggestion("MaxAttempts", {"max_attempts"}, "there are"),
            "; did you mean max_attempts?");
}

TEST(Suggest, NothingNearListsWhatThereIs) {
  EXPECT_EQ(Suggestion("payments", {"cart", "users"}, "there are"), "; there are: cart, users");
  EXPECT_EQ(Suggestion("x", {"a"}, "there are"), "; there are: a");
  EXPECT_EQ(Suggestion("x", {}, "there are"), "");
}

TEST(Suggest, LongListsAreCut) {
  const std::vector<std::string> known(kMaxListed + 1, "cart");
  EXPECT_TRUE(Suggestion("payments", known, "there are").ends_with(", cart, ..."));
}

TEST(Suggest, VeryLongWordsAreNearNothing) {
  EXPECT_EQ(Suggestion(std::string(100'000, 'a'), {"aaa"}, "there are"), "; there are: aaa");
}

}  // namespace
}  // namespace levee
