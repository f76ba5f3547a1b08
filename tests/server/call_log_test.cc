// SPDX-License-Identifier: Apache-2.0
// The ended calls that a worker logs, and the places where it logs them.
#include "server/call_log.h"

#include "gtest/gtest.h"

namespace levee {
namespace {

// Ends `second` seconds after the start.
CallRecord RefusedCall(int second) {
  CallRecord record;
  record.end = Instant::FromNanos(0) + absl::Seconds(second);
  record.code = StatusCode::kUnavailable;
  record.refused = RefusalReason::kBudget;
  return record;
}

class CallLogTest : public testing::Test {
 protected:
  // How many of `calls` calls that were refused at once are to be remembered.
  int Remembered(int second, int calls) {
    int remembered = 0;
    for (int i = 0; i < calls; ++i) {
      remembered += log_.Choose(filter_, RefusedCall(second)).recent ? 1 : 0;
    }
    return remembered;
  }

  RecentCalls recent_;
  Random random_{1};
  CallLog log_{recent_, random_};
  const AccessLogFilter filter_;
};

TEST_F(CallLogTest, OfAStormOnlySomeCallsAreRemembered) {
  EXPECT_EQ(Remembered(/*second=*/1, /*calls=*/1000), RecentCallsGate::kAtOnce);
  EXPECT_EQ(Remembered(2, 1000), 1);
}

TEST_F(CallLogTest, CallsThatAreNotToBeRememberedTakeNoPlace) {
  for (int i = 0; i < 1000; ++i) {
    CallRecord ok;
    ok.end = Instant::FromNanos(0) + absl::Seconds(1);
    ok.code = StatusCode::kOk;
    EXPECT_FALSE(log_.Choose(filter_, ok).recent);
  }
  EXPECT_EQ(Remembered(1, 20), 20);
}

TEST_F(CallLogTest, NothingIsRememberedWhileNobodyCanAsk) {
  recent_.SetEnabled(false);
  EXPECT_EQ(Remembered(1, 10), 0);
  recent_.SetEnabled(true);
  EXPECT_EQ(Remembered(1, 10), 10);
}

}  // namespace
}  // namespace levee
