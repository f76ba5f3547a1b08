// SPDX-License-Identifier: Apache-2.0
// What people are shown of a rate limit that sidecars share.
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "policy/rate_limiter.h"

namespace levee {
namespace {

// Keeps the requests.
class Requests final : public LeaseSource {
 public:
  void Ask(Bucket bucket, const LeaseRequest& request) override {
    buckets.push_back(std::move(bucket));
    refunded += request.refund;
  }

  std::vector<Bucket> buckets;
  int64_t refunded = 0;
};

class SharedLimitView : public testing::Test {
 protected:
  void Use(int max_keys) {
    RateLimitPolicy policy{.name = "all", .per_second = 1000, .burst = 200, .max_keys = max_keys};
    policy.key = {RateLimitKey::Method()};
    policy.shared = SharedRate{.name = "p/all", .store = "shared"};
    limiter_ = std::make_shared<RateLimiter>(policy, &requests_);
  }
  void SetUp() override { Use(100'000); }

  void Call(const std::string& method) {
    LimitKey key;
    key.Add("method", method);
    limiter_->Take(key, now_, absl::ZeroDuration());
  }

  // Answers all requests.
  void Grant(int64_t permits) {
    for (const auto& bucket : std::exchange(requests_.buckets, {})) {
      limiter_->OnGrant(bucket, {.granted = permits}, now_);
      granted_ += permits;
    }
  }

  int64_t granted_ = 0;
  Requests requests_;
  std::shared_ptr<RateLimiter> limiter_;
  Instant now_ = Instant() + absl::Seconds(100);
};

TEST_F(SharedLimitView, AddsUpTheBucketsOfAllKeys) {
  for (const char* method : {"/a", "/b", "/c"}) Call(method);
  Grant(5);
  Call("/a");
  const RateLimiter::View view = limiter_->ViewAt(now_);
  EXPECT_EQ(view.state, PermitLease::State::kLeased);
  EXPECT_EQ(view.keys, 3);
  ASSERT_TRUE(view.holding.has_value());
  EXPECT_EQ(view.holding->permits_left, 14);
}

TEST_F(SharedLimitView, TheRateIsWhatWasGrantedLessWhatWasGivenBack) {
  EXPECT_EQ(limiter_->ViewAt(now_).granted_per_second, 0);
  constexpr int kSeconds = 20;
  for (int i = 0; i < 20 * kSeconds; ++i) {
    Call("/a");
    Grant(10);
    now_ = now_ + absl::Milliseconds(50);
  }
  ASSERT_GT(requests_.refunded, granted_ / 4);
  const double kept = static_cast<double>(granted_ - requests_.refunded) / kSeconds;
  EXPECT_NEAR(limiter_->ViewAt(now_).granted_per_second, kept, kept / 4);
  now_ = now_ + absl::Minutes(1);
  EXPECT_LT(limiter_->ViewAt(now_).granted_per_second, 0.1);
}

TEST_F(SharedLimitView, OfTooManyKeysOnlyTheNumberIsTold) {
  for (int i = 0; i <= RateLimiter::kMostLookedAt; ++i) Call(absl::StrCat("/m", i));
  const RateLimiter::View view = limiter_->ViewAt(now_);
  EXPECT_EQ(view.keys, RateLimiter::kMostLookedAt + 1);
  EXPECT_FALSE(view.holding.has_value());
}

TEST_F(SharedLimitView, WithoutTheStoreItHasARateOfItsOwn) {
  Call("/a");
  for (const auto& bucket : std::exchange(requests_.buckets, {})) limiter_->OnLost(bucket, now_);
  limiter_->SetSidecars(4);
  const RateLimiter::View view = limiter_->ViewAt(now_);
  EXPECT_EQ(view.state, PermitLease::State::kFallback);
  ASSERT_TRUE(view.holding.has_value());
  EXPECT_EQ(view.holding->own_rate, 1000);  // The share of one, as was known then.
}

}  // namespace
}  // namespace levee
