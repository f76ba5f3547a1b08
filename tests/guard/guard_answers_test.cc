// SPDX-License-Identifier: Apache-2.0
// How a guard tells its clients what was decided.
#include <memory>
#include <string>
#include <vector>

#include "base/block_cache.h"
#include "gtest/gtest.h"
#include "guard/guard.h"
#include "guard/times.h"

namespace levee {
namespace {

// Its answer takes all the memory that a turn may.
struct DearClient final : GuardClient {
  explicit DearClient(int& count) : refused(count), place(*this, /*worker=*/0) {}
  void OnSlot(Instant) override {}
  void OnGuardRefused(const GuardRefusal&, Instant) override {
    ++refused;
    AllowBlocks(0);
  }
  int& refused;
  GuardPlace place;
};

TEST(GuardAnswers, StopWhereTheMemoryOfATurnIsUsedUpAndGoOnInTheNextOne) {
  constexpr int kWaiting = 5;
  GuardPolicy policy;
  policy.concurrency = {.kind = ConcurrencyPolicy::Kind::kFixed, .fixed = 1};
  Guard guard(policy, 1);
  guard.SetWake(0, [] {});
  ASSERT_TRUE(guard.TryEnter(0, 0, kStart));
  int refused = 0;
  std::vector<std::unique_ptr<DearClient>> clients;
  for (int i = 0; i < kWaiting; ++i) {
    clients.push_back(std::make_unique<DearClient>(refused));
    const auto entry = guard.Enter(clients.back()->place, GuardRank(false, 64, 0),
                                   kStart + absl::Milliseconds(10), kStart);
    ASSERT_TRUE(entry.waits);
  }
  // None of them may start so late.
  const Instant late = kStart + absl::Seconds(1);
  for (int turn = 1; turn <= kWaiting; ++turn) {
    AllowBlocks(1'000'000);
    const Instant again = guard.Answer(0, late);
    EXPECT_EQ(refused, turn);
    EXPECT_LE(again, late + absl::Milliseconds(1));
  }
  AllowBlocks(1'000'000);
  EXPECT_EQ(guard.Answer(0, late), Instant::Infinite());
  AllowBlocks(INT64_MAX);
  guard.Leave(0, /*method=*/0, absl::Milliseconds(1), late);
  EXPECT_EQ(guard.View(late).waiting, 0);
}

TEST(GuardMethods, AMethodWhosePathIsLongHasNoNumberOfItsOwn) {
  Guard guard(GuardPolicy(), /*workers=*/1);
  const std::string longest(Guard::kMaxPath, 'p');
  EXPECT_NE(guard.NameMethod(longest), Guard::kMethods);
  EXPECT_EQ(guard.NameMethod(longest + "p"), Guard::kMethods);
}

}  // namespace
}  // namespace levee
