// SPDX-License-Identifier: Apache-2.0
// Calls before limits that several sidecars share.
#include "call/lease_admission.h"

#include <map>
#include <string>

#include "call/call_fixture.h"
#include "policy/lease_script_model.h"

namespace levee {
namespace {

// A store on virtual time, with one bucket for each key.
class SimStore final : public LeaseSource {
 public:
  SimStore(SimClock& clock, LeaseAdmission& admission) : clock_(clock), admission_(admission) {}

  void Ask(Bucket bucket, const LeaseRequest& request) override {
    ++requests;
    const bool lost = away;
    clock_.After(lost ? Ms(50) : delay, [this, bucket, request, lost] {
      const auto limit = bucket.limiter.lock();
      const Instant now = clock_.now();
      const LeaseRule rule = limit->policy().lease_rule();
      const bool waited_for =
          lost ? limit->OnLost(bucket, now)
               : limit->OnGrant(bucket, buckets_[bucket.key].Run(rule, request, now), now);
      if (waited_for) admission_.OnAnswered(now);
    });
  }

  absl::Duration delay = Ms(2);
  bool away = false;
  int requests = 0;

 private:
  SimClock& clock_;
  LeaseAdmission& admission_;
  std::map<std::string, LeaseScriptModel> buckets_;
};

// 10 calls a second, 5 at once.
class CallLease : public CallTest {
 protected:
  CallLease() {
    policy_.rate_limits = {{.name = "shared", .per_second = 10, .burst = 5}};
    policy_.rate_limits[0].shared = SharedRate{.store = "redis"};
    retry_.commit = CommitMode::kHeaders;
    sidecar_.admission = &admission_;
    sidecar_.leases = &store_;
    Upstream({Ok()});
  }

  // Lets time pass, for the timers of calls that wait too.
  void Pass(absl::Duration span) {
    const Instant end = clock_.now() + span;
    while (clock_.now() < end) {
      clock_.RunFor(Ms(1));
      wheel_.Advance(clock_.now());
    }
  }

  TimerWheel wheel_{SimClock::Start()};
  LeaseAdmission admission_{wheel_};
  SimStore store_{clock_, admission_};
};

TEST_F(CallLease, TheFirstCallWaitsForItsLeaseAndThenBegins) {
  SimHost& call = RunUnary();
  EXPECT_EQ(call.caller().code, StatusCode::kOk);
  EXPECT_EQ(call.attempt(1).start, Ms(2));
  EXPECT_TRUE(call.record().rate_limit.checked);
}

TEST_F(CallLease, CallsThatWaitTogetherBeginTogetherAndTheRestIsRefused) {
  for (int i = 0; i < 9; ++i) sidecar_.Unary();
  EXPECT_EQ(admission_.waiting(), 9U);
  clock_.Run();
  EXPECT_EQ(admission_.waiting(), 0U);
  EXPECT_EQ(sidecar_.tally().ok, 5);
  EXPECT_EQ(store_.requests, 2);
  const SimHost& last = sidecar_.calls().back();
  EXPECT_EQ(last.caller().code, StatusCode::kResourceExhausted);
  EXPECT_GE(last.caller().pushback, Ms(90));
}

TEST_F(CallLease, ACallerThatLeavesWhileItWaitsIsForgotten) {
  SimHost& call = sidecar_.Unary();
  call.Leave();
  EXPECT_EQ(admission_.waiting(), 0U);
  clock_.Run();
  EXPECT_EQ(call.caller().code, StatusCode::kCancelled);
  EXPECT_EQ(call.attempts(), 0);
}

TEST_F(CallLease, ADeadlineThatPassesWhileItWaitsEndsTheCall) {
  store_.delay = Ms(40);
  SimHost& call = RunUnary({.timeout = Ms(20)});
  EXPECT_EQ(call.caller().code, StatusCode::kDeadlineExceeded);
  EXPECT_EQ(call.caller().finished_at, Ms(20));
  EXPECT_EQ(admission_.waiting(), 0U);
}

TEST_F(CallLease, R3_WithoutAnAnswerACallWaitsForTheTimeoutAndGoesOnWithTheShare) {
  store_.away = true;
  SimHost& first = RunUnary();
  EXPECT_EQ(first.caller().code, StatusCode::kOk);
  EXPECT_EQ(first.caller().finished_at, Ms(51));  // The service takes 1 ms.
  Pass(Ms(100));
  EXPECT_EQ(RunUnary().caller().code, StatusCode::kOk);  // 10 a second.
}

TEST_F(CallLease, NoCallWaitsLongerThanTheTimeoutForAnAnswerThatDoesNotCome) {
  store_.delay = absl::Seconds(5);
  SimHost& call = sidecar_.Unary();
  Pass(Ms(70));
  EXPECT_EQ(call.caller().code, StatusCode::kResourceExhausted);
  EXPECT_LE(call.caller().finished_at, Ms(61));
  EXPECT_EQ(admission_.waiting(), 0U);
}

TEST_F(CallLease, ACallThatHasWaitedForTooLongIsAdmittedIfThatIsWhatTheLimitSays) {
  policy_.rate_limits[0].shared->away = StoreAway::kAllow;
  store_.delay = absl::Seconds(5);
  SimHost& call = sidecar_.Unary();
  Pass(Ms(70));
  EXPECT_EQ(call.caller().code, StatusCode::kOk);
  EXPECT_LE(call.attempt(1).start, Ms(61));
}

TEST_F(CallLease, EachKeyHasALeaseOfItsOwn) {
  policy_.rate_limits[0].key = {RateLimitKey::Method()};
  LimitKey one, other;
  one.Add("method", "/a");
  other.Add("method", "/b");
  for (int i = 0; i < 6; ++i) {
    sidecar_.Unary({.rate_keys = {&one, 1}});
    sidecar_.Unary({.rate_keys = {&other, 1}});
  }
  clock_.Run();
  EXPECT_EQ(sidecar_.tally().ok, 10);
}

TEST_F(CallLease, AnotherLimitThatRefusesCostsNoLeasedPermit) {
  policy_.rate_limits.insert(policy_.rate_limits.begin(),
                             {.name = "own", .per_second = 0.001, .burst = 1});
  for (int i = 0; i < 3; ++i) sidecar_.Unary();
  clock_.Run();
  EXPECT_EQ(sidecar_.tally().ok, 1);
}

}  // namespace
}  // namespace levee
