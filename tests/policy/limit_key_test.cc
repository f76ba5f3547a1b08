// SPDX-License-Identifier: Apache-2.0
// Keys of rate limits: lists of names and values that are never confused.
#include "policy/limit_key.h"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/random.h"
#include "gtest/gtest.h"
#include "policy/rate_limiter.h"

namespace levee {
namespace {

using Entries = std::vector<std::pair<std::string, std::string>>;

LimitKey KeyOfEntries(const Entries& entries) {
  LimitKey key;
  for (const auto& [name, value] : entries) key.Add(name, value);
  return key;
}

Entries EntriesOf(const LimitKey& key) {
  Entries entries;
  for (const auto& [name, value] : key.entries()) entries.emplace_back(name, value);
  return entries;
}

// Cuts a short random text, which holds zeros too, into up to three names and values. Few letters
// and few lengths, so that two draws are often the same text cut in different places.
Entries RandomEntries(Random& random) {
  static constexpr std::string_view kLetters("a\0", 2);
  Entries entries(random.Below(4));
  for (auto& [name, value] : entries) {
    for (std::string* text : {&name, &value}) {
      for (uint64_t i = random.Below(3); i > 0; --i) *text += kLetters[random.Below(2)];
    }
  }
  return entries;
}

std::string Joined(const Entries& entries) {
  std::string joined;
  for (const auto& [name, value] : entries) joined += name + value;
  return joined;
}

RateLimitPolicy OncePerKey() {
  return {.name = "limit",
          .per_second = 1e-6,
          .burst = 1,
          .key = {RateLimitKey::Header("x-a"), RateLimitKey::Header("x-b")}};
}

TEST(LimitKey, WithoutEntriesItIsEmpty) {
  EXPECT_TRUE(LimitKey().entries().empty());
  EXPECT_EQ(LimitKey().text(), "");
}

TEST(LimitKey, GivesItsEntriesInTheirOrderAsADescriptorNeedsThem) {
  const Entries entries = {{"method", "/shop.Cart/Add"},
                           {"header:x-tenant", ""},
                           {"authority", std::string("a\0b", 3)},
                           {"header:x-long", std::string(1000, 'x')}};
  EXPECT_EQ(EntriesOf(KeyOfEntries(entries)), entries);
}

TEST(LimitKey, AMovedKeyKeepsItsEntries) {
  const Entries entries = {{"method", "/shop.Cart/Add"}};
  LimitKey key = KeyOfEntries(entries);
  const LimitKey moved = std::move(key);
  EXPECT_EQ(EntriesOf(moved), entries);
}

TEST(LimitKeyProperty, TwoKeysHaveTheSameTextOnlyIfTheyHaveTheSameEntries) {
  Random random(1);
  int joined_alike = 0;
  for (int i = 0; i < 50'000; ++i) {
    const Entries a = RandomEntries(random);
    const Entries b = RandomEntries(random);
    joined_alike += a != b && Joined(a) == Joined(b);
    ASSERT_EQ(EntriesOf(KeyOfEntries(a)), a);
    ASSERT_EQ(KeyOfEntries(a).text() == KeyOfEntries(b).text(), a == b);
  }
  EXPECT_GT(joined_alike, 1000);  // Pairs that a key of joined texts would confuse.
}

TEST(LimitKeyProperty, ValuesThatReadAlikeWhenJoinedHaveBucketsOfTheirOwn) {
  // Each way to cut the text in two is another pair of values.
  const std::string text("12\0|:=,3\0", 9);
  RateLimiter limit(OncePerKey());
  for (size_t cut = 0; cut <= text.size(); ++cut) {
    const LimitKey key =
        KeyOfEntries({{"header:x-a", text.substr(0, cut)}, {"header:x-b", text.substr(cut)}});
    EXPECT_TRUE(limit.Take(key, Instant(), absl::ZeroDuration()).granted) << cut;
    EXPECT_FALSE(limit.Take(key, Instant(), absl::ZeroDuration()).granted) << cut;
  }
}

}  // namespace
}  // namespace levee
