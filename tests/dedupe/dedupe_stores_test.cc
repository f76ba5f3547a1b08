// SPDX-License-Identifier: Apache-2.0
// The tables of idempotency keys of all upstreams.
#include "dedupe/dedupe_stores.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"

namespace levee {
namespace {

class KeyedCall final : private DedupeClient {
 public:
  // Runs a call with a key to its end.
  static void Run(DedupeTable& table, const std::string& key) {
    KeyedCall client;
    DedupePlace place(client, 0, table.KeyOf(key), {.sender = 1});
    const Instant now = Instant::FromNanos(1);
    ASSERT_EQ(table.Ask(place, Sha256{}, now).kind, DedupeTable::Step::Kind::kFirst);
    table.End(place, DedupeEnding::kKept, StoredAnswer::OfStatus(StatusCode::kOk), now);
  }

 private:
  void OnKey(Instant) override {}
  void OnKeyUnknown(Instant) override {}
  void OnKeyAnswer(const DedupeAnswer&, Instant) override {}
};

class DedupeStoresTest : public testing::Test {
 protected:
  static constexpr int64_t kMany = 1 << 20;

  // Returns what the table takes after more keys than it has room for.
  int64_t Fill(DedupeTable& table) {
    for (int i = 0; i < 20'000; ++i) KeyedCall::Run(table, absl::StrCat(++keys_));
    return static_cast<int64_t>(table.GetView().bytes);
  }

  DedupeStores stores_{1, [](int) {}};
  int keys_ = 0;
};

TEST_F(DedupeStoresTest, ATableTakesWhatItsPolicySaysOrWhatMemoryLeaves) {
  const auto table = stores_.Get("app", "pay", {.max_bytes = kMany});
  const auto within = [&](int64_t bytes) {
    const int64_t taken = Fill(*table);
    EXPECT_LE(taken, bytes);
    EXPECT_GT(taken, bytes * 9 / 10);
  };
  within(kMany);
  stores_.SetRoom(kMany / 2);
  within(kMany / 2);
  EXPECT_EQ(stores_.Get("app", "pay", {.max_bytes = kMany / 4}), table);
  within(kMany / 4);
  stores_.Get("app", "pay", {.max_bytes = kMany});
  within(kMany / 2);
  stores_.SetRoom(2 * kMany);
  within(kMany);
}

TEST_F(DedupeStoresTest, ANewTableHasTheRoomThatIsKnown) {
  stores_.SetRoom(kMany / 2);
  EXPECT_LE(Fill(*stores_.Get("app", "pay", {.max_bytes = kMany})), kMany / 2);
}

TEST_F(DedupeStoresTest, OutcomesForgottenAreCountedByUpstreamBeyondTheLifeOfATable) {
  auto pay = stores_.Get("app", "pay", {.max_bytes = kMany});
  const auto other = stores_.Get("app", "other", {.max_bytes = kMany});
  const auto cart = stores_.Get("cart", "pay", {.max_bytes = kMany});
  Fill(*pay);
  Fill(*other);
  const uint64_t forgotten = stores_.Views()["app"].forgotten;
  EXPECT_GT(forgotten, 30'000u);
  EXPECT_EQ(stores_.Views()["cart"].forgotten, 0u);
  EXPECT_EQ(stores_.TimesFull(), forgotten);
  pay.reset();
  EXPECT_EQ(stores_.Views()["app"].forgotten, forgotten);
}

}  // namespace
}  // namespace levee
