// SPDX-License-Identifier: Apache-2.0
#include "policy/failed_calls.h"

#include <cstdint>

#include "gtest/gtest.h"

namespace levee {

inline void PrintTo(FailedCalls::Likeness likeness, std::ostream* out) {
  *out << static_cast<int>(likeness);
}

namespace {

using Likeness = FailedCalls::Likeness;

constexpr FirstMessage kMessage{.hash = 7};
constexpr FirstMessage kOther{.hash = 8};
constexpr FirstMessage kAnother{.hash = 10};
constexpr FirstMessage kEmpty{.hash = 9, .empty = true};

class FailedCallsTest : public testing::Test {
 protected:
  static Instant At(absl::Duration since_start) {
    return Instant::FromNanos(1'000'000'000) + since_start;
  }

  // A call began and failed.
  bool Fail(const CallKin& kin, const FirstMessage& message, Instant now) {
    return calls_.OnFailed(kin, message, /*begun=*/now, now);
  }

  // Another message failed on the connection, so that equal ones say something.
  void FailAnother(Instant now) { Fail(untraced_, kAnother, now); }

  FailedCallsRoom room_;
  FailedCalls calls_{room_};
  const CallKin traced_{.hash = 1, .traced = true};
  const CallKin untraced_{.hash = 2};
};

TEST_F(FailedCallsTest, IsEmptyUntilACallFails) {
  EXPECT_TRUE(calls_.empty());
  EXPECT_TRUE(Fail(traced_, kMessage, At(absl::ZeroDuration())));
  EXPECT_FALSE(calls_.empty());
}

TEST_F(FailedCallsTest, AnEqualCallOfTheTraceIsARetryForTenSeconds) {
  Fail(traced_, kMessage, At(absl::ZeroDuration()));
  EXPECT_TRUE(calls_.MayHave(traced_, At(absl::Milliseconds(9999))));
  EXPECT_EQ(calls_.Find(traced_, kMessage, At(absl::Milliseconds(9999))), Likeness::kRetry);
  EXPECT_EQ(calls_.Find(traced_, kMessage, At(absl::Seconds(10))), Likeness::kNone);
  EXPECT_TRUE(calls_.empty());
}

TEST_F(FailedCallsTest, AnotherMessageOrKinIsNoRetry) {
  Fail(traced_, kMessage, At(absl::ZeroDuration()));
  EXPECT_EQ(calls_.Find(traced_, kOther, At(absl::ZeroDuration())), Likeness::kNone);
  EXPECT_FALSE(calls_.MayHave({.hash = 3, .traced = true}, At(absl::ZeroDuration())));
  EXPECT_EQ(calls_.Find({.hash = 3, .traced = true}, kMessage, At(absl::ZeroDuration())),
            Likeness::kNone);
}

TEST_F(FailedCallsTest, WithoutATraceOnlyAConnectionWithSeveralMessagesTells) {
  Fail(untraced_, kMessage, At(absl::ZeroDuration()));
  EXPECT_EQ(calls_.Find(untraced_, kMessage, At(absl::ZeroDuration())), Likeness::kMaybePoll);
  EXPECT_FALSE(calls_.MayHave(untraced_, At(absl::ZeroDuration())));
  FailAnother(At(absl::ZeroDuration()));
  EXPECT_TRUE(calls_.MayHave(untraced_, At(absl::ZeroDuration())));
  EXPECT_EQ(calls_.Find(untraced_, kMessage, At(absl::ZeroDuration())), Likeness::kRetry);
}

TEST_F(FailedCallsTest, WithoutATraceTwoSecondsCount) {
  FailAnother(At(absl::ZeroDuration()));
  Fail(untraced_, kMessage, At(absl::ZeroDuration()));
  EXPECT_EQ(calls_.Find(untraced_, kMessage, At(absl::Milliseconds(100))), Likeness::kRetry);
  EXPECT_NE(calls_.Find(untraced_, kMessage, At(absl::Milliseconds(1999))), Likeness::kNone);
  EXPECT_EQ(calls_.Find(untraced_, kMessage, At(absl::Seconds(2))), Likeness::kNone);
}

TEST_F(FailedCallsTest, AnEmptyMessageSaysEnoughOnlyWithATrace) {
  Fail(traced_, kEmpty, At(absl::ZeroDuration()));
  Fail(untraced_, kEmpty, At(absl::ZeroDuration()));
  EXPECT_EQ(calls_.Find(traced_, kEmpty, At(absl::ZeroDuration())), Likeness::kRetry);
  EXPECT_EQ(calls_.Find(untraced_, kEmpty, At(absl::ZeroDuration())), Likeness::kNone);
}

TEST_F(FailedCallsTest, WithoutATraceAnySuccessEndsTheSuspicion) {
  FailAnother(At(absl::ZeroDuration()));
  Fail(traced_, kMessage, At(absl::ZeroDuration()));
  Fail(untraced_, kMessage, At(absl::ZeroDuration()));
  calls_.OnSuccess(At(absl::Milliseconds(10)));
  EXPECT_EQ(calls_.Find(untraced_, kMessage, At(absl::Milliseconds(20))), Likeness::kNone);
  EXPECT_EQ(calls_.Find(traced_, kMessage, At(absl::Milliseconds(20))), Likeness::kRetry);
  // A failure after that counts, but not that of a call that had begun before it.
  calls_.OnFailed(untraced_, kMessage, /*begun=*/At(absl::Milliseconds(9)),
                  At(absl::Milliseconds(25)));
  EXPECT_EQ(calls_.Find(untraced_, kMessage, At(absl::Milliseconds(26))), Likeness::kNone);
  Fail(untraced_, kMessage, At(absl::Milliseconds(30)));
  EXPECT_EQ(calls_.Find(untraced_, kMessage, At(absl::Milliseconds(40))), Likeness::kRetry);
}

TEST_F(FailedCallsTest, WithoutATraceACallAfterAPollersGapMayBeAPoll) {
  FailAnother(At(absl::ZeroDuration()));
  Fail(untraced_, kMessage, At(absl::ZeroDuration()));
  EXPECT_EQ(calls_.Find(untraced_, kMessage, At(absl::Milliseconds(249))), Likeness::kRetry);
  EXPECT_EQ(calls_.Find(untraced_, kMessage, At(absl::Milliseconds(250))), Likeness::kMaybePoll);
  // The gap is that after the last equal call, which may have been refused.
  calls_.OnRefused(untraced_, kMessage, At(absl::Milliseconds(200)));
  EXPECT_EQ(calls_.Find(untraced_, kMessage, At(absl::Milliseconds(250))), Likeness::kRetry);
}

TEST_F(FailedCallsTest, WithoutATraceManyEqualCallsInARowAreNoLoop) {
  FailAnother(At(absl::ZeroDuration()));
  Fail(untraced_, kMessage, At(absl::ZeroDuration()));
  calls_.OnRefused(untraced_, kMessage, At(absl::Milliseconds(1)));
  calls_.OnRefused(untraced_, kMessage, At(absl::Milliseconds(2)));
  Fail(untraced_, kMessage, At(absl::Milliseconds(3)));
  EXPECT_EQ(calls_.Find(untraced_, kMessage, At(absl::Milliseconds(4))), Likeness::kRetry);
  calls_.OnRefused(untraced_, kMessage, At(absl::Milliseconds(4)));
  EXPECT_EQ(calls_.Find(untraced_, kMessage, At(absl::Milliseconds(5))), Likeness::kMaybePoll);
  // As long as they go on.
  Fail(untraced_, kMessage, At(absl::Seconds(1)));
  FailAnother(At(absl::Seconds(1)));
  EXPECT_EQ(calls_.Find(untraced_, kMessage, At(absl::Milliseconds(1100))), Likeness::kMaybePoll);
  Fail(untraced_, kMessage, At(absl::Seconds(4)));
  FailAnother(At(absl::Seconds(4)));
  EXPECT_EQ(calls_.Find(untraced_, kMessage, At(absl::Seconds(4))), Likeness::kRetry);
}

TEST_F(FailedCallsTest, AnAnswerToTheRetryEndsTheSuspicion) {
  Fail(traced_, kMessage, At(absl::ZeroDuration()));
  Fail(traced_, kOther, At(absl::ZeroDuration()));
  calls_.OnAnswered(traced_, kMessage);
  EXPECT_EQ(calls_.Find(traced_, kMessage, At(absl::ZeroDuration())), Likeness::kNone);
  EXPECT_TRUE(calls_.MayHave(traced_, At(absl::ZeroDuration())));
  calls_.OnAnswered(traced_, kOther);
  EXPECT_TRUE(calls_.empty());
}

TEST_F(FailedCallsTest, RefusalsKeepTheEntryButNeitherRenewItNorGoOnForEver) {
  Fail(traced_, kMessage, At(absl::ZeroDuration()));
  for (int i = 0; i < FailedCalls::kRefusals; ++i) {
    const Instant now = At(absl::Seconds(i));
    EXPECT_EQ(calls_.Find(traced_, kMessage, now), Likeness::kRetry) << i;
    calls_.OnRefused(traced_, kMessage, now);
  }
  EXPECT_EQ(calls_.Find(traced_, kMessage, At(absl::Seconds(9))), Likeness::kMaybePoll);
  EXPECT_EQ(calls_.Find(traced_, kMessage, At(absl::Seconds(10))), Likeness::kNone);
}

TEST_F(FailedCallsTest, AFailureOfTheRetryRenewsTheEntry) {
  Fail(traced_, kMessage, At(absl::ZeroDuration()));
  for (int i = 0; i < FailedCalls::kRefusals; ++i) {
    calls_.OnRefused(traced_, kMessage, At(absl::ZeroDuration()));
  }
  Fail(traced_, kMessage, At(absl::Seconds(9)));
  EXPECT_EQ(calls_.Find(traced_, kMessage, At(absl::Seconds(18))), Likeness::kRetry);
}

TEST_F(FailedCallsTest, TheOldestMakesRoom) {
  room_.left = 3;
  for (uint64_t hash = 1; hash <= 3; ++hash) {
    EXPECT_TRUE(Fail({.hash = hash, .traced = hash != 1}, kMessage, At(absl::Milliseconds(hash))));
  }
  EXPECT_FALSE(Fail({.hash = 4, .traced = true}, kMessage, At(absl::Milliseconds(4))));
  EXPECT_EQ(calls_.Find({.hash = 1}, kMessage, At(absl::Milliseconds(4))), Likeness::kNone);
  EXPECT_TRUE(calls_.MayHave({.hash = 2, .traced = true}, At(absl::Milliseconds(4))));
  // Known calls need no more room.
  EXPECT_TRUE(Fail({.hash = 4, .traced = true}, kMessage, At(absl::Milliseconds(5))));
}

TEST_F(FailedCallsTest, TablesShareTheRoomAndGiveItBack) {
  room_.left = 1;
  {
    FailedCalls other(room_);
    EXPECT_TRUE(
        other.OnFailed(traced_, kMessage, At(absl::ZeroDuration()), At(absl::ZeroDuration())));
    EXPECT_FALSE(Fail(traced_, kMessage, At(absl::ZeroDuration())));
    EXPECT_TRUE(calls_.empty());
  }
  EXPECT_TRUE(Fail(traced_, kMessage, At(absl::ZeroDuration())));
  EXPECT_EQ(room_.left, 0u);
}

}  // namespace
}  // namespace levee
