// SPDX-License-Identifier: Apache-2.0
#include "base/uuid.h"

#include <set>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace levee {
namespace {

TEST(Uuid, HasTheFormOfVersion4) {
  Random random(1);
  for (int i = 0; i < 100; ++i) {
    EXPECT_THAT(RandomUuid(random),
                testing::MatchesRegex("[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-"
                                      "[0-9a-f]{12}"));
  }
}

TEST(Uuid, EachIsAnother) {
  Random random(1);
  std::set<std::string> seen;
  for (int i = 0; i < 1000; ++i) EXPECT_TRUE(seen.insert(RandomUuid(random)).second);
}

TEST(Uuid, EveryDigitTakesEveryValue) {
  Random random(1);
  std::string values[36];
  for (int i = 0; i < 1000; ++i) {
    const std::string text = RandomUuid(random);
    for (size_t at = 0; at < text.size(); ++at) {
      if (values[at].find(text[at]) == std::string::npos) values[at] += text[at];
    }
  }
  for (size_t at = 0; at < 36; ++at) {
    const bool fixed = at == 8 || at == 13 || at == 14 || at == 18 || at == 23;
    EXPECT_EQ(values[at].size(), fixed ? 1u : at == 19 ? 4u : 16u) << at;
  }
}

}  // namespace
}  // namespace levee
