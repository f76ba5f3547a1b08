// SPDX-License-Identifier: Apache-2.0
// What follows an export that failed.
#include "otlp/export_rule.h"

#include "gtest/gtest.h"

namespace levee {
namespace {

Instant At(absl::Duration since) { return Instant() + since; }

ExportDecision After(const ExportAnswer& answer) {
  Random random(1);
  return ExportAttempts(At({})).OnFailed(answer, At({}), random);
}

TEST(ExportRule, CodesThatMayPassAreTriedAgain) {
  for (const StatusCode code :
       {StatusCode::kCancelled, StatusCode::kDeadlineExceeded, StatusCode::kAborted,
        StatusCode::kOutOfRange, StatusCode::kUnavailable, StatusCode::kDataLoss}) {
    EXPECT_EQ(After({.code = code}).step, ExportStep::kRetry) << StatusCodeName(code);
  }
}

TEST(ExportRule, OtherCodesAreFinal) {
  for (const StatusCode code :
       {StatusCode::kUnknown, StatusCode::kInvalidArgument, StatusCode::kNotFound,
        StatusCode::kAlreadyExists, StatusCode::kPermissionDenied, StatusCode::kUnauthenticated,
        StatusCode::kFailedPrecondition, StatusCode::kUnimplemented, StatusCode::kInternal,
        StatusCode::kResourceExhausted}) {
    EXPECT_EQ(After({.code = code}).step, ExportStep::kRefused) << StatusCodeName(code);
  }
}

TEST(ExportRule, AnExhaustedReceiverThatNamesAWaitIsAskedAgainNoEarlier) {
  const ExportDecision decision =
      After({.code = StatusCode::kResourceExhausted, .wait = absl::Seconds(7)});
  EXPECT_EQ(decision.step, ExportStep::kRetry);
  EXPECT_GE(decision.wait, absl::Seconds(7));
  EXPECT_LE(decision.wait, absl::Seconds(8));
}

TEST(ExportRule, AReceiverThatWantsNoRetryGetsNone) {
  EXPECT_EQ(After({.code = StatusCode::kUnavailable, .do_not_retry = true}).step,
            ExportStep::kRefused);
}

TEST(ExportRule, WaitsGrowAndEnd) {
  Random random(1);
  ExportAttempts attempts(At({}));
  absl::Duration now;
  absl::Duration last;
  int tries = 0;
  for (;; ++tries) {
    const ExportDecision decision =
        attempts.OnFailed({.code = StatusCode::kUnavailable}, At(now), random);
    if (decision.step == ExportStep::kGiveUp) break;
    ASSERT_EQ(decision.step, ExportStep::kRetry);
    EXPECT_GE(decision.wait, absl::Milliseconds(500));
    EXPECT_LE(decision.wait, absl::Seconds(10));
    now += decision.wait;
    last = decision.wait;
  }
  EXPECT_GE(last, absl::Seconds(5));
  EXPECT_LE(now, ExportAttempts::kLongest);
  EXPECT_GE(tries, 6);
  EXPECT_LE(tries, 14);
}

TEST(ExportRule, AWaitThatIsTooLongIsNotTaken) {
  EXPECT_EQ(After({.code = StatusCode::kUnavailable, .wait = absl::Seconds(61)}).step,
            ExportStep::kGiveUp);
  EXPECT_EQ(After({.code = StatusCode::kUnavailable, .wait = absl::InfiniteDuration()}).step,
            ExportStep::kGiveUp);
}

TEST(ExportRule, TheWaitIsReadFromTheTrailers) {
  Metadata trailers;
  ExportAnswer answer;
  ReadAdvice(trailers, answer);
  EXPECT_FALSE(answer.wait.has_value());
  EXPECT_FALSE(answer.do_not_retry);
  trailers.Add("grpc-retry-pushback-ms", "250");
  ReadAdvice(trailers, answer);
  EXPECT_EQ(answer.wait, absl::Milliseconds(250));
  trailers.Set("grpc-retry-pushback-ms", "-1");
  ReadAdvice(trailers, answer);
  EXPECT_TRUE(answer.do_not_retry);
}

}  // namespace
}  // namespace levee
