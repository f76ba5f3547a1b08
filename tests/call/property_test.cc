// SPDX-License-Identifier: Apache-2.0
// Rules that hold for every call under every policy.
#include <cstdint>

#include "call/random_world.h"
#include "gtest/gtest.h"

namespace levee {
namespace {

// Seeds that once found a fault stay here; a new one is replayed by adding it.
constexpr uint64_t kSeedsThatFailed[] = {1};
constexpr uint64_t kSeeds = 250;

void RunSeed(uint64_t seed) {
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  RandomWorld(seed).Run();
}

TEST(CallProperty, A51_AttemptsStayWithinTheBudgetUnderRandomPoliciesAndWorkloads) {
  for (uint64_t seed : kSeedsThatFailed) RunSeed(seed);
  for (uint64_t seed = 1; seed <= kSeeds && !testing::Test::HasFailure(); ++seed) RunSeed(seed);
}

TEST(CallProperty, AShadowOfTheSamePolicyAgreesInEveryCall) {
  for (uint64_t seed = 1; seed <= kSeeds && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    RandomWorld world(seed);
    world.AddTwin();
    world.Run();
  }
}

}  // namespace
}  // namespace levee
