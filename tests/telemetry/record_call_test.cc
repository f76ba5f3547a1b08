// SPDX-License-Identifier: Apache-2.0
#include "telemetry/record_call.h"

#include <memory>
#include <optional>

#include "gtest/gtest.h"
#include "telemetry/times.h"

namespace levee {
namespace {

AttemptRecord Attempt(int64_t start_ms, int64_t end_ms, StatusCode code) {
  return {.start = At(start_ms), .end = At(end_ms), .code = code};
}

// A retry after a failure of code `after`.
AttemptRecord Retry(int64_t start_ms, int64_t end_ms, StatusCode code, RetryTrigger trigger,
                    StatusCode after, int64_t delay_ms) {
  AttemptRecord attempt = Attempt(start_ms, end_ms, code);
  attempt.trigger = trigger;
  attempt.after = after;
  attempt.delay = absl::Milliseconds(delay_ms);
  attempt.backed_off = true;
  return attempt;
}

CallRecord CallFrom(int64_t start_ms, int64_t end_ms, StatusCode code) {
  CallRecord record;
  record.start = At(start_ms);
  record.end = At(end_ms);
  record.code = code;
  return record;
}

template <typename Summed>
uint64_t Count(const Summed& histogram) {
  uint64_t count = 0;
  for (size_t bucket = 0; bucket < Summed::kBuckets; ++bucket) count += histogram.Read(bucket);
  return count;
}

class RecordCallTest : public testing::Test {
 protected:
  void Record(const CallRecord& record) { RecordCall(method_, upstream_, worker_, record); }

  MethodSeries method_;
  UpstreamSeries upstream_;
  WorkerSeries worker_;
};

TEST_F(RecordCallTest, ACallThatSucceedsAtOnce) {
  CallRecord record = CallFrom(100, 107, StatusCode::kOk);
  record.attempts.push_back(Attempt(101, 107, StatusCode::kOk));
  Record(record);

  EXPECT_EQ(Count(method_.calls[CallKind::kUnary][StatusCode::kOk]), 1u);
  EXPECT_EQ(Count(method_.attempts[CallKind::kUnary][StatusCode::kOk]), 1u);
  EXPECT_EQ(method_.calls[CallKind::kUnary][StatusCode::kOk].ReadSum(), 7u * kMs);
  EXPECT_EQ(method_.calls[CallKind::kUnary][StatusCode::kOk].Read(3),
            1u);  // above 5 ms, up to 10 ms
  EXPECT_EQ(method_.attempts[CallKind::kUnary][StatusCode::kOk].ReadSum(), 6u * kMs);
  EXPECT_EQ(method_.attempts_ok.Read(0), 1u);
  EXPECT_EQ(Count(method_.attempts_error), 0u);
  EXPECT_EQ(Count(method_.retry_delay), 0u);
  EXPECT_EQ(Count(upstream_.retry_backoff), 0u);
}

TEST_F(RecordCallTest, ARetriedCallCountsItsRetriesByTriggerAndFailure) {
  CallRecord record = CallFrom(0, 100, StatusCode::kOk);
  record.attempts.push_back(Attempt(0, 10, StatusCode::kUnavailable));
  record.attempts.push_back(Retry(30, 40, StatusCode::kResourceExhausted, RetryTrigger::kStatus,
                                  StatusCode::kUnavailable, 20));
  record.attempts.push_back(
      Retry(70, 100, StatusCode::kOk, RetryTrigger::kHttp, StatusCode::kResourceExhausted, 30));
  Record(record);

  EXPECT_EQ(method_.retries[RetryTrigger::kStatus][StatusCode::kUnavailable].Read(), 1u);
  EXPECT_EQ(method_.retries[RetryTrigger::kHttp][StatusCode::kResourceExhausted].Read(), 1u);
  EXPECT_EQ(method_.retries[RetryTrigger::kHttp][StatusCode::kOk].Read(), 0u);
  EXPECT_EQ(Count(method_.attempts[CallKind::kUnary][StatusCode::kUnavailable]), 1u);
  EXPECT_EQ(Count(method_.attempts[CallKind::kUnary][StatusCode::kResourceExhausted]), 1u);
  EXPECT_EQ(Count(method_.attempts[CallKind::kUnary][StatusCode::kOk]), 1u);
  EXPECT_EQ(Count(method_.calls[CallKind::kUnary][StatusCode::kOk]), 1u);
  EXPECT_EQ(Count(method_.calls[CallKind::kUnary][StatusCode::kUnavailable]), 0u);
  EXPECT_EQ(method_.attempts_ok.Read(2), 1u);
  EXPECT_EQ(Count(upstream_.retry_backoff), 2u);
  EXPECT_EQ(upstream_.retry_backoff.ReadSum(), 50u * kMs);
}

TEST_F(RecordCallTest, TheRetryDelayIsTheTimeWithoutAnActiveAttempt) {
  CallRecord record = CallFrom(0, 100, StatusCode::kOk);
  record.attempts.push_back(Attempt(5, 10, StatusCode::kUnavailable));
  record.attempts.push_back(
      Retry(32, 40, StatusCode::kUnavailable, RetryTrigger::kStatus, StatusCode::kUnavailable, 20));
  record.attempts.push_back(
      Retry(70, 100, StatusCode::kOk, RetryTrigger::kStatus, StatusCode::kUnavailable, 30));
  Record(record);
  EXPECT_EQ(Count(method_.retry_delay), 1u);
  EXPECT_EQ(method_.retry_delay.ReadSum(), (22u + 30u) * kMs);
}

TEST_F(RecordCallTest, AttemptsThatOverlapLeaveNoTimeBetweenThem) {
  CallRecord record = CallFrom(0, 100, StatusCode::kOk);
  record.attempts.push_back(Attempt(0, 90, StatusCode::kCancelled));
  record.attempts.push_back(Attempt(20, 30, StatusCode::kUnavailable));
  record.attempts.push_back(Attempt(95, 100, StatusCode::kOk));
  Record(record);
  EXPECT_EQ(method_.retry_delay.ReadSum(), 5u * kMs);
}

TEST_F(RecordCallTest, ATransparentRetryIsARetryButNoFurtherAttemptOfTheCall) {
  CallRecord record = CallFrom(0, 10, StatusCode::kOk);
  record.attempts.push_back(Attempt(0, 1, StatusCode::kUnavailable));
  AttemptRecord again = Attempt(1, 10, StatusCode::kOk);
  again.transparent = true;
  again.trigger = RetryTrigger::kRefused;
  again.after = StatusCode::kUnavailable;
  record.attempts.push_back(again);
  Record(record);

  EXPECT_EQ(upstream_.transparent_retries.Read(), 1u);
  EXPECT_EQ(method_.retries[RetryTrigger::kRefused][StatusCode::kUnavailable].Read(), 1u);
  EXPECT_EQ(method_.attempts_ok.Read(0), 1u);
  EXPECT_EQ(method_.attempts_ok.ReadSum(), 1u);
  EXPECT_EQ(Count(upstream_.retry_backoff), 0u);
  EXPECT_EQ(Count(method_.retry_delay), 1u);
}

TEST_F(RecordCallTest, EachWaitForASuccessCountsWithItsLengthAndItsEnd) {
  CallRecord record = CallFrom(0, 100, StatusCode::kUnavailable);
  record.attempts.push_back(Attempt(0, 1, StatusCode::kUnavailable));
  record.waits = {{.after = 1, .end = WaitEnd::kReleased, .waited = absl::Milliseconds(30)},
                  {.after = 2, .end = WaitEnd::kDeadline, .waited = absl::Milliseconds(60)}};
  Record(record);
  EXPECT_EQ(upstream_.waits[WaitEnd::kReleased].Read(), 1u);
  EXPECT_EQ(upstream_.waits[WaitEnd::kDeadline].Read(), 1u);
  EXPECT_EQ(upstream_.waits[WaitEnd::kExpired].Read(), 0u);
  EXPECT_EQ(Count(upstream_.retry_wait), 2u);
  EXPECT_EQ(upstream_.retry_wait.ReadSum(), 90u * kMs);
}

TEST_F(RecordCallTest, FurtherAttemptsCountByTheirKindInTheCallsThatHadThem) {
  CallRecord once = CallFrom(0, 10, StatusCode::kOk);
  once.attempts.push_back(Attempt(0, 10, StatusCode::kOk));
  Record(once);
  CallRecord record = CallFrom(0, 100, StatusCode::kOk);
  record.attempts.push_back(Attempt(0, 10, StatusCode::kUnavailable));
  for (const RetryTrigger trigger :
       {RetryTrigger::kRefused, RetryTrigger::kStatus, RetryTrigger::kHedge, RetryTrigger::kReset,
        RetryTrigger::kTimeout}) {
    record.attempts.push_back(Retry(20, 30, StatusCode::kOk, trigger, StatusCode::kOk, 0));
  }
  record.attempts[1].transparent = true;
  Record(record);
  EXPECT_EQ(Count(method_.retries_per_call), 1u);
  EXPECT_EQ(method_.retries_per_call.ReadSum(), 3u);
  EXPECT_EQ(Count(method_.transparent_per_call), 1u);
  EXPECT_EQ(method_.transparent_per_call.ReadSum(), 1u);
  EXPECT_EQ(Count(method_.hedges_per_call), 1u);
  EXPECT_EQ(method_.hedges_per_call.ReadSum(), 1u);
}

TEST_F(RecordCallTest, ARefusedRetryCountsByReason) {
  CallRecord record = CallFrom(0, 10, StatusCode::kResourceExhausted);
  record.attempts.push_back(Attempt(0, 10, StatusCode::kUnavailable));
  record.refused = RefusalReason::kBudget;
  record.mark_sent = OverloadScope::kService;
  Record(record);

  EXPECT_EQ(method_.retries_refused[RefusalReason::kBudget].Read(), 1u);
  EXPECT_EQ(method_.retries_refused[RefusalReason::kMaxAttempts].Read(), 0u);
  EXPECT_EQ(upstream_.marks_sent[OverloadScope::kService].Read(), 1u);
  EXPECT_EQ(upstream_.marks_sent[OverloadScope::kEndpoint].Read(), 0u);
  EXPECT_EQ(method_.attempts_error.Read(0), 1u);
  EXPECT_EQ(Count(method_.attempts_ok), 0u);
  EXPECT_EQ(Count(method_.calls[CallKind::kUnary][StatusCode::kResourceExhausted]), 1u);
}

TEST_F(RecordCallTest, MarksReceivedCountPerAttempt) {
  CallRecord record = CallFrom(0, 10, StatusCode::kUnavailable);
  record.attempts.push_back(Attempt(0, 1, StatusCode::kUnavailable));
  record.attempts.push_back(Attempt(2, 3, StatusCode::kUnavailable));
  record.attempts[0].mark_received = OverloadScope::kEndpoint;
  record.attempts[1].mark_received = OverloadScope::kService;
  Record(record);
  EXPECT_EQ(upstream_.marks_received[OverloadScope::kEndpoint].Read(), 1u);
  EXPECT_EQ(upstream_.marks_received[OverloadScope::kService].Read(), 1u);
}

TEST_F(RecordCallTest, ACallWithoutAttemptsHasNoPlaceInTheAttemptsHistogram) {
  CallRecord record = CallFrom(0, 1, StatusCode::kResourceExhausted);
  record.app_retry = AppRetrySign::kHeader;
  record.app_retry_refused = true;
  record.refused = RefusalReason::kBudget;
  Record(record);

  EXPECT_EQ(Count(method_.calls[CallKind::kUnary][StatusCode::kResourceExhausted]), 1u);
  EXPECT_EQ(Count(method_.attempts_error), 0u);
  EXPECT_EQ(method_.retries_refused[RefusalReason::kBudget].Read(), 1u);
}

TEST_F(RecordCallTest, ApplicationRetriesCountAsAdmittedOrRefused) {
  CallRecord record = CallFrom(0, 1, StatusCode::kOk);
  Record(record);
  for (const AppRetrySign sign : {AppRetrySign::kHeader, AppRetrySign::kLoop}) {
    const Counter& admitted = upstream_.app_retries_admitted[sign];
    const Counter& refused = upstream_.app_retries_refused[sign];
    EXPECT_EQ(admitted.Read(), 0u);
    record.app_retry = sign;
    record.app_retry_refused = false;
    Record(record);
    EXPECT_EQ(admitted.Read(), 1u);
    EXPECT_EQ(refused.Read(), 0u);
    record.app_retry_refused = true;
    Record(record);
    EXPECT_EQ(admitted.Read(), 1u);
    EXPECT_EQ(refused.Read(), 1u);
  }
}

TEST_F(RecordCallTest, AFullTableOfFailedCallsCountsAsALimitThatWasHit) {
  CallRecord record = CallFrom(0, 1, StatusCode::kUnavailable);
  Record(record);
  EXPECT_EQ(worker_.limit_hits[Limit::kFailedCalls].Read(), 0u);
  record.failed_calls_full = true;
  Record(record);
  EXPECT_EQ(worker_.limit_hits[Limit::kFailedCalls].Read(), 1u);
}

TEST_F(RecordCallTest, FullReplayMemoryCountsAsALimitThatWasHit) {
  CallRecord record = CallFrom(0, 1, StatusCode::kOk);
  Record(record);
  EXPECT_EQ(worker_.limit_hits[Limit::kReplayBytes].Read(), 0u);
  record.replay_memory_full = true;
  Record(record);
  EXPECT_EQ(worker_.limit_hits[Limit::kReplayBytes].Read(), 1u);
}

TEST_F(RecordCallTest, AKeyWithoutABucketCountsAsALimitThatWasHit) {
  CallRecord record = CallFrom(0, 1, StatusCode::kOk);
  Record(record);
  EXPECT_EQ(worker_.limit_hits[Limit::kMaxKeys].Read(), 0u);
  record.rate_limit.shared_bucket = true;
  Record(record);
  EXPECT_EQ(worker_.limit_hits[Limit::kMaxKeys].Read(), 1u);
}

TEST_F(RecordCallTest, ACallThatALimitRefusedCountsForItsUpstream) {
  CallRecord record = CallFrom(0, 1, StatusCode::kResourceExhausted);
  record.rate_limit = {.checked = true};
  Record(record);
  EXPECT_EQ(upstream_.rate_limited.Read(), 0u);
  record.rate_limit.refused_by = 0;
  Record(record);
  EXPECT_EQ(upstream_.rate_limited.Read(), 1u);
}

TEST(RecordRateLimits, ACallThatPassedCountsForEveryLimit) {
  RateLimitSeries first, second;
  RateLimitSeries* const limits[] = {&first, &second};
  RecordRateLimits(limits, {.checked = true});
  RecordRateLimits(limits, {.checked = true, .delayed_by = 1});
  RecordRateLimits(limits, {});  // It was over before a limit was asked.
  EXPECT_EQ(first.admitted.Read(), 2u);
  EXPECT_EQ(second.admitted.Read(), 1u);
  EXPECT_EQ(second.delayed.Read(), 1u);
}

TEST(RecordRateLimits, ACallThatWasRefusedCountsOnlyForTheLimitThatRefusedIt) {
  RateLimitSeries first, second;
  RateLimitSeries* const limits[] = {&first, &second};
  RecordRateLimits(limits, {.checked = true, .refused_by = 1});
  EXPECT_EQ(first.admitted.Read() + first.delayed.Read() + first.rejected.Read(), 0u);
  EXPECT_EQ(second.rejected.Read(), 1u);
}

TEST_F(RecordCallTest, AnAttemptWithoutAnEndCountsWithNoDuration) {
  CallRecord record = CallFrom(50, 60, StatusCode::kCancelled);
  record.attempts.push_back({.start = At(50)});
  Record(record);
  EXPECT_EQ(method_.attempts[CallKind::kUnary][StatusCode::kUnknown].Read(0), 1u);
  EXPECT_EQ(method_.attempts[CallKind::kUnary][StatusCode::kUnknown].ReadSum(), 0u);
}

TEST(MethodSeries, StaysSmall) {
  // A sidecar may hold one per worker, upstream and method.
  EXPECT_LE(sizeof(MethodSeries), 9u * 1024 + 512);
  EXPECT_LE(sizeof(UpstreamSeries), 1024u);
}

}  // namespace
}  // namespace levee
