// SPDX-License-Identifier: Apache-2.0
// The room of one table of keys among those who send calls, some of them hostile.
#include <malloc.h>

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/block_cache.h"
#include "dedupe/answer_of.h"
#include "dedupe/dedupe_table.h"
#include "gtest/gtest.h"

namespace levee {
namespace {

using FirstStep = DedupeTable::Step::Kind;

constexpr KeyOwner kHonest{.sender = 1, .scope = 1};
constexpr Sha256 kSameRequest{};

// A call of somebody, which nobody waits for.
class OwnedCall final : private DedupeClient {
 public:
  OwnedCall(DedupeTable& table, const KeyOwner& owner, std::string_view key)
      : table_(table), place_(*this, 0, table.KeyOf(key), owner) {}

  DedupeTable::Step Ask(Instant now) { return table_.Ask(place_, kSameRequest, now); }
  void End(DedupeEnding ending, Instant now, StoredAnswerPtr answer = nullptr) {
    table_.End(place_, ending, std::move(answer), now);
  }

 private:
  void OnKey(Instant) override {}
  void OnKeyUnknown(Instant) override {}
  void OnKeyAnswer(const DedupeAnswer&, Instant) override {}

  DedupeTable& table_;
  DedupePlace place_;
};

class OwnerShares : public testing::Test {
 protected:
  OwnerShares() { Use({.max_bytes = 8 << 20}); }
  void Use(const DedupePolicy& policy) {
    policy_ = policy;
    table_ = std::make_unique<DedupeTable>(policy, 1, [](int) {});
  }

  // A whole call; false: there was no room for its key, or it has run.
  bool Run(const KeyOwner& owner, std::string_view key, const StoredAnswerPtr& answer) {
    OwnedCall call(*table_, owner, key);
    if (call.Ask(now_).kind != FirstStep::kFirst) return false;
    call.End(answer == nullptr ? DedupeEnding::kUnknown : DedupeEnding::kKept, now_, answer);
    return true;
  }
  bool IsKnown(const KeyOwner& owner, std::string_view key) {
    return OwnedCall(*table_, owner, key).Ask(now_).kind == FirstStep::kAnswered;
  }

  // Keys of the honest caller that are known: "honest 0" and so on.
  int Known(int keys) {
    int known = 0;
    for (int i = 0; i < keys; ++i) {
      OwnedCall call(*table_, kHonest, absl::StrCat("honest ", i));
      const DedupeTable::Step step = call.Ask(now_);
      known += step.kind == FirstStep::kAnswered;
      if (step.kind == FirstStep::kFirst) call.End(DedupeEnding::kReleased, now_);
    }
    return known;
  }

  DedupePolicy policy_;
  std::unique_ptr<DedupeTable> table_;
  Instant now_ = Instant::FromNanos(1'000'000'000);
};

struct Flood {
  const char* name;
  int calls;
  size_t answer;  // bytes
  KeyOwner (*owner)(uint64_t call);
};
constexpr Flood kFloods[] = {
    {"OfOneCaller", 1'000'000, 10,
     [](uint64_t) {
       return KeyOwner{2, 2};
     }},
    {"OfLargeAnswers", 20'000, 60'000,
     [](uint64_t) {
       return KeyOwner{2, 2};
     }},
    {"OfOneCallerWithManyScopes", 200'000, 10,
     [](uint64_t call) {
       return KeyOwner{2, call};
     }},
    {"OfManyCallers", 200'000, 10,
     [](uint64_t call) {
       return KeyOwner{2 + call % 1000, 2};
     }},
};

class HostileFlood : public OwnerShares, public testing::WithParamInterface<Flood> {};

INSTANTIATE_TEST_SUITE_P(All, HostileFlood, testing::ValuesIn(kFloods),
                         [](const auto& flood) { return flood.param.name; });

TEST_P(HostileFlood, ForgetsNoKeyOfACallerWithinItsShare) {
  constexpr int kKeys = 100;
  const Flood& flood = GetParam();
  const StoredAnswerPtr answer = AnswerOf(std::string(flood.answer, 'x'));
  for (int i = 0; i < flood.calls; ++i) {
    if (i % (flood.calls / kKeys) == 0) {
      const int key = i / (flood.calls / kKeys);
      ASSERT_TRUE(Run(kHonest, absl::StrCat("honest ", key), AnswerOf("receipt"))) << key;
    }
    const auto number = static_cast<uint64_t>(i);
    Run(flood.owner(number), absl::StrCat("hostile ", i), answer);
    ASSERT_LE(table_->GetView().bytes, static_cast<size_t>(policy_.max_bytes));
  }
  EXPECT_GT(table_->losses().forgotten, 0u);
  EXPECT_EQ(Known(kKeys), kKeys);
}

TEST_F(OwnerShares, WhoFillsTheTableLosesHisOwnOldestFirst) {
  Use({.max_bytes = 64 << 10});
  const StoredAnswerPtr answer = AnswerOf("receipt");
  for (int i = 0; i < 50; ++i) ASSERT_TRUE(Run(kHonest, absl::StrCat("honest ", i), answer));
  const KeyOwner greedy{2, 2};
  for (int i = 0; i < 1000; ++i) ASSERT_TRUE(Run(greedy, absl::StrCat("greedy ", i), answer));
  EXPECT_EQ(Known(50), 50);
  EXPECT_FALSE(IsKnown(greedy, "greedy 500")) << "and this run of it is not ended";
}

TEST_F(OwnerShares, WhoTakesMoreThanHisShareGivesItBackToOthers) {
  const StoredAnswerPtr answer = AnswerOf("receipt");
  const KeyOwner early{2, 2};
  for (int i = 0; i < 20'000; ++i) Run(early, absl::StrCat("early ", i), answer);
  for (int i = 0; i < 6'000; ++i) ASSERT_TRUE(Run(kHonest, absl::StrCat("honest ", i), answer));
  EXPECT_EQ(Known(6'000), 6'000);
}

TEST_F(OwnerShares, TheScopesOfOneSenderShareItsRoom) {
  const StoredAnswerPtr answer = AnswerOf("receipt");
  for (int i = 0; i < 5'000; ++i) ASSERT_TRUE(Run(kHonest, absl::StrCat("honest ", i), answer));
  for (int i = 0; i < 50'000; ++i) Run({kHonest.sender, 2}, absl::StrCat("other ", i), answer);
  EXPECT_EQ(Known(5'000), 5'000);
}

// Calls of `owner` without an outcome, as many as are let in; returns how many that are.
int Forsake(DedupeTable& table, const KeyOwner& owner, Instant now) {
  for (int i = 0;; ++i) {
    OwnedCall call(table, owner,
                   absl::StrCat(owner.sender, " ", owner.scope, " ", i, " ", now.nanos()));
    if (call.Ask(now).kind != FirstStep::kFirst) return i;
    call.End(DedupeEnding::kUnknown, now);
  }
}

TEST_F(OwnerShares, UnknownOutcomesOfOneTakeAQuarterAndStopNobodyElse) {
  const int alone = Forsake(*table_, {2, 2}, now_);
  EXPECT_GT(alone, 1000);
  EXPECT_LE(table_->GetView().bytes, static_cast<size_t>(policy_.max_bytes) / 4 + (200 << 10));
  EXPECT_FALSE(Run({2, 2}, "more", AnswerOf("receipt")));
  EXPECT_TRUE(Run({2, 3}, "more", AnswerOf("receipt"))) << "another scope of the sender";
  for (int i = 0; i < 1000; ++i) {
    ASSERT_TRUE(Run(kHonest, absl::StrCat("honest ", i), AnswerOf("receipt")));
  }
  EXPECT_EQ(Known(1000), 1000);
}

TEST_F(OwnerShares, UnknownOutcomesOfManyCallersWithManyScopesLeaveRoom) {
  for (uint64_t sender = 2; sender < 20; ++sender) {
    for (uint64_t scope = 0; scope < 20; ++scope) Forsake(*table_, {sender, scope}, now_);
  }
  for (int i = 0; i < 200; ++i) {
    ASSERT_TRUE(Run(kHonest, absl::StrCat("honest ", i), AnswerOf("receipt"))) << i;
  }
  EXPECT_EQ(Known(200), 200);
}

TEST_F(OwnerShares, AfterTheClaimUnknownOutcomesMakeRoom) {
  const int before = Forsake(*table_, {2, 2}, now_);
  now_ = now_ + policy_.claim;
  const int after = Forsake(*table_, {2, 2}, now_);
  EXPECT_GT(after, before * 9 / 10);
}

TEST_F(OwnerShares, ACallerLosesNothingWithinItsShareWhateverOthersHold) {
  constexpr int kCallers = 10;
  for (uint64_t sender = 2; sender < 2 + kCallers; ++sender) Forsake(*table_, {sender, 2}, now_);
  const size_t held = table_->GetView().bytes;
  for (int i = 0; table_->losses().forgotten == 0; ++i) {
    ASSERT_TRUE(Run(kHonest, absl::StrCat("honest ", i), AnswerOf("receipt")));
  }
  const auto room = static_cast<size_t>(policy_.max_bytes);
  EXPECT_GT(table_->GetView().bytes - held, room / (kCallers + 1));
}

TEST_F(OwnerShares, WithoutCallsOutcomesGoWithTime) {
  constexpr int kKeys = 5000;
  for (int i = 0; i < kKeys; ++i) {
    Run(kHonest, absl::StrCat("known ", i), AnswerOf("receipt"));
    Run(kHonest, absl::StrCat("unknown ", i), nullptr);
  }
  const auto forget = [&](absl::Duration after) {
    now_ = now_ + after;
    for (int i = 0; i < 40; ++i) table_->ForgetOld(now_);
    return table_->GetView().keys;
  };
  EXPECT_EQ(forget(policy_.ttl - absl::Seconds(1)), 2u * kKeys);
  EXPECT_EQ(forget(absl::Seconds(1)), static_cast<size_t>(kKeys));
  EXPECT_EQ(forget(policy_.claim), 0u);
  EXPECT_LT(table_->GetView().bytes, 4096u);
}

TEST_F(OwnerShares, ALowerBoundIsReachedByAndBy) {
  const StoredAnswerPtr answer = AnswerOf("receipt");
  for (int i = 0; i < 20'000; ++i) Run({2, 2}, absl::StrCat(i), answer);
  EXPECT_GT(table_->GetView().bytes, size_t{7} << 20);
  policy_.max_bytes = 1 << 20;
  table_->SetPolicy(policy_);
  for (int i = 0; i < 200; ++i) ASSERT_TRUE(Run(kHonest, absl::StrCat("honest ", i), answer));
  EXPECT_LE(table_->GetView().bytes, size_t{1} << 20);
  EXPECT_EQ(Known(200), 200);
}

// What malloc has given out.
size_t GivenOut() {
  ReleaseFreeBlocks();
  const struct mallinfo2 info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

TEST_F(OwnerShares, WhatIsCountedIsWhatMallocGivesOut) {
  if (GivenOut() == 0) GTEST_SKIP() << "a sanitizer has another malloc";
  for (const size_t body : {0, 10, 100, 1000, 15'000}) {
    for (const uint64_t senders : {1, 64}) {
      for (const uint64_t scopes : {1, 50}) {
        Use({.max_bytes = 16 << 20});
        const size_t before = GivenOut(), empty = table_->GetView().bytes;
        for (uint64_t i = 0; i < 40'000; ++i) {
          Run({1 + i % senders, 1 + i % scopes}, absl::StrCat("key ", i),
              body == 0 ? StoredAnswer::OfStatus(StatusCode::kOk)
                        : AnswerOf(std::string(body, 'x')));
        }
        const auto taken = static_cast<double>(GivenOut() - before);
        const auto counted = static_cast<double>(table_->GetView().bytes - empty);
        EXPECT_NEAR(counted, taken, taken / 10) << body << " " << senders << " " << scopes;
        EXPECT_GT(counted, 12 << 20);
        now_ = now_ + policy_.ttl;
        for (int i = 0; i < 20'000; ++i) {
          OwnedCall call(*table_, kHonest, "k");
          call.Ask(now_);
          call.End(DedupeEnding::kReleased, now_);
        }
        EXPECT_EQ(table_->GetView().keys, 0u);
        EXPECT_LT(table_->GetView().bytes, 4096u);
        EXPECT_LT(GivenOut() - before, size_t{64} << 10);
      }
    }
  }
}

}  // namespace
}  // namespace levee
