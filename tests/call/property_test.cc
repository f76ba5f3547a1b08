// SPDX-License-Identifier: Apache-2.0
// Rules that hold for every call under every policy.
#include <csignal>
#include <cstdint>
#include <cstdio>

#include "call/drawn_config.h"
#include "call/random_world.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "storms/seeds.h"

namespace levee {
namespace {

// Seeds that once found a fault stay here; a new one is replayed by adding it.
constexpr uint64_t kSeedsThatFailed[] = {1, 370, 968, 1272, 1285, 1726};
// Of 200 calls and more. The sanitizers make each ten times as dear.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr uint64_t kUsualSeeds = 1000;
#else
constexpr uint64_t kUsualSeeds = 5000;
#endif
constexpr uint64_t kShards = 10;        // each is a test of its own, so that several run at a time

void PrintPlace(const char* what) {
  std::fprintf(stderr, "%s: seed %llu, after %lld calls of this process\n", what,
               static_cast<unsigned long long>(RandomWorld::seed()),
               static_cast<long long>(RandomWorld::calls()));
}

// A broken invariant ends the process, and GoogleTest's traces with it.
void OnAbort(int) { PrintPlace("random calls aborted"); }

class RandomCalls : public testing::TestWithParam<uint64_t> {
 protected:
  void SetUp() override { before_ = std::signal(SIGABRT, OnAbort); }
  void TearDown() override { std::signal(SIGABRT, before_); }

  static void RunSeed(uint64_t seed, bool with_twin = false) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    RandomWorld world(seed);
    if (with_twin) world.AddTwin();
    world.Run();
    if (!testing::Test::HasFailure()) return;
    PrintPlace("random calls failed");
    std::fprintf(stderr, "%s", world.yaml().c_str());
  }

  // Each kShards-th seed of `seeds`.
  static void RunShard(uint64_t seeds, bool with_twin) {
    const uint64_t first = FirstPropertySeed();
    for (uint64_t i = GetParam(); i < seeds && !testing::Test::HasFailure(); i += kShards) {
      RunSeed(first + i, with_twin);
    }
  }

 private:
  void (*before_)(int) = nullptr;
};

TEST_P(RandomCalls, EndOnceWithinTheirTimeAndTheBudgetAndLeaveNothing) {
  RunShard(PropertySeeds(kUsualSeeds), /*with_twin=*/false);
}

TEST_P(RandomCalls, HaveShadowsOfTheSamePolicyThatAgree) {
  RunShard(PropertySeeds(kUsualSeeds) / 10, /*with_twin=*/true);
}

INSTANTIATE_TEST_SUITE_P(A51, RandomCalls, testing::Range<uint64_t>(0, kShards));

class SeedsThatFailed : public RandomCalls {};

TEST_P(SeedsThatFailed, PassNow) { RunSeed(GetParam()); }

INSTANTIATE_TEST_SUITE_P(A51, SeedsThatFailed, testing::ValuesIn(kSeedsThatFailed));

TEST(RandomPolicies, EveryFieldOfThePolicyIsDrawn) {
  EXPECT_THAT(FieldsWithoutValues(), testing::IsEmpty())
      << "give each of these fields values in tests/call/field_values.cc";
}

}  // namespace
}  // namespace levee
