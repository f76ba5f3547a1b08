// SPDX-License-Identifier: Apache-2.0
// For whom a guard's refusals are meant, by what callers report of their retries.
#include "gtest/gtest.h"
#include "guard/guard.h"
#include "guard/times.h"
#include "guard/unreported_calls.h"

namespace levee {
namespace {

constexpr RetryReport kOnlyRetries{.attempts = {0, 0, 0, 1'000'000'000}};

class GuardScope : public testing::Test {
 protected:
  void Arrive(int calls, Instant now = kStart) {
    for (int i = 0; i < calls; ++i) guard_.TryEnter(/*worker=*/0, /*previous=*/0, now);
  }
  OverloadScope Scope(Instant now = kStart) { return guard_.View(now).scope; }

  Guard guard_{GuardPolicy(), /*workers=*/1};
};

TEST_F(GuardScope, ACallerThatLiesWeighsAsMuchAsItsCalls) {
  Arrive(100);
  guard_.Report(kOnlyRetries, /*calls=*/9, kStart);
  EXPECT_EQ(Scope(), OverloadScope::kEndpoint);
  guard_.Report(kOnlyRetries, /*calls=*/2, kStart);
  EXPECT_EQ(Scope(), OverloadScope::kService);
}

TEST_F(GuardScope, TheShareIsThatOfTheCallsThatReportsSpeakFor) {
  Arrive(100);
  guard_.Report({.attempts = {60}, .refused = 40}, /*calls=*/50, kStart);
  guard_.Report({.attempts = {1000}}, /*calls=*/50, kStart);
  EXPECT_EQ(guard_.View(kStart).reported.Share(), 0.2);
  EXPECT_EQ(Scope(), OverloadScope::kService);
}

TEST_F(GuardScope, AReportCountsForTenSeconds) {
  Arrive(100);
  guard_.Report(kOnlyRetries, /*calls=*/100, kStart);
  const Instant later = kStart + absl::Seconds(11);
  Arrive(100, later);
  EXPECT_EQ(guard_.View(later).reported.Share(), 0);
  EXPECT_EQ(Scope(later), OverloadScope::kEndpoint);
}

TEST(UnreportedCalls, AreThoseToOneGuardSinceTheLastReportAndOfTenSeconds) {
  const int one = 0, other = 0;
  UnreportedCalls calls;
  for (int i = 0; i < 3; ++i) calls.Add(&one, kStart);
  EXPECT_EQ(calls.Take(), 3);
  calls.Add(&one, kStart);
  calls.Add(&other, kStart);
  EXPECT_EQ(calls.Take(), 1);
  for (int i = 0; i < 3; ++i) calls.Add(&other, kStart);
  calls.Add(&other, kStart + absl::Seconds(11));
  EXPECT_EQ(calls.Take(), 1);
}

}  // namespace
}  // namespace levee
