// SPDX-License-Identifier: Apache-2.0
#include "call/call_invariants.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <string>

#include "gtest/gtest.h"
#include "wire/message_count.h"

namespace levee {
namespace {

// The time that an attempt's upstream is told, `begun` after the call. The bounds of the policy are
// told only where a descriptor says which of them hold.
absl::Duration Told(const SimSidecar& sidecar, absl::Duration callers, absl::Duration begun) {
  const CallPolicy& policy = sidecar.policy;
  if (!sidecar.described.has_value()) return callers - begun;
  if (sidecar.described == CallKind::kStream) {
    return std::min(callers, policy.stream.timeout) - begun;
  }
  const absl::Duration timeout = std::min(callers, policy.timeout) - begun;
  return policy.retry.mode == RetryMode::kObserve ? timeout
                                                  : std::min(timeout, policy.retry.attempt_timeout);
}

void CheckAttempt(const SimSidecar& sidecar, const SimHost& call, AttemptId id,
                  const RequestFacts& facts) {
  const CallPolicy& policy = sidecar.policy;
  const SimAttempt& attempt = call.attempt(id);
  const SimAttempt& first = call.attempt(1);
  const absl::Duration begun = call.record().start - SimClock::Start();
  EXPECT_TRUE(attempt.ended_at.has_value() != attempt.cancelled_at.has_value());
  // A18: a prefix of what the caller sent, whole if END_STREAM came.
  EXPECT_TRUE(call.caller().sent.starts_with(attempt.received));
  if (attempt.half_closed) {
    EXPECT_EQ(attempt.received, call.caller().sent);
  }
  // A22, and A21: nothing goes on after the deadline.
  // What has begun to answer as the policy's time ends may turn out to be a stream, unless a
  // descriptor says that it is none.
  const bool stream = call.record().kind == CallKind::kStream;
  const absl::Duration more =
      sidecar.described.has_value() ? absl::ZeroDuration() : StreamSigns::kQuiet;
  const absl::Duration bound = stream ? absl::InfiniteDuration() : policy.timeout + more;
  const absl::Duration timeout = std::min(facts.timeout, bound);
  const absl::Duration told = Told(sidecar, facts.timeout, attempt.start - begun);
  // An attempt's own timeout goes on while it waits for a connection.
  if (sidecar.described == CallKind::kUnary && sidecar.connect_wait > absl::ZeroDuration()) {
    EXPECT_LE(attempt.timeout, told);
  } else {
    EXPECT_EQ(attempt.timeout, told);
  }
  EXPECT_LE(*call.caller().finished_at, begun + timeout);
  EXPECT_LE(attempt.start, *call.caller().finished_at);
  if (id == 1) {
    EXPECT_EQ(attempt.previous_attempts, facts.previous_attempts);
    return;
  }
  const SimAttempt& before = call.attempt(id - 1);
  if (policy.hedge.has_value()) {
    // Of several under way an older one may be sent again, with its own number.
    int highest = 0;
    for (AttemptId i = 1; i < id; ++i) {
      highest = std::max(highest, call.attempt(i).previous_attempts);
    }
    EXPECT_LE(attempt.previous_attempts, highest + 1);
    EXPECT_GE(attempt.previous_attempts, first.previous_attempts);
    return;
  }
  EXPECT_GE(attempt.start, before.ended_at ? *before.ended_at : *before.cancelled_at);
  const int step = attempt.previous_attempts - before.previous_attempts;
  EXPECT_TRUE(step == 0 || step == 1) << step;
}

void CheckCall(const SimSidecar& sidecar, const SimHost& call, const RequestFacts& facts) {
  const CallPolicy& policy = sidecar.policy;
  ASSERT_TRUE(call.finished());
  const SimCaller& caller = call.caller();
  EXPECT_LE(caller.credited, caller.sent.size());
  EXPECT_EQ(caller.trailers.Get("grpc-status"), std::to_string(static_cast<int>(caller.code)));
  int counted = 0;
  for (const AttemptRecord& attempt : call.record().attempts) counted += !attempt.transparent;
  int most = policy.retry.max_attempts;
  for (const RetryRule& rule : policy.retry.rules) most = std::max(most, rule.max_attempts);
  if (policy.hedge.has_value()) most = std::max(most, policy.hedge->max_attempts);
  EXPECT_LE(counted, policy.retry.mode == RetryMode::kObserve ? 1 : most);
  for (AttemptId id = 1; id <= call.attempts(); ++id) CheckAttempt(sidecar, call, id, facts);
}

}  // namespace

void CheckKinds(const SimSidecar& sidecar) {
  for (const SimHost& call : sidecar.calls()) {
    if (!call.finished()) continue;
    const CallKind kind = call.record().kind;
    MessageCount request;
    const std::string& sent = call.caller().sent;
    request.Add(Chunk::Copy({reinterpret_cast<const uint8_t*>(sent.data()), sent.size()}));
    if (sidecar.described.has_value()) {
      EXPECT_EQ(kind, *sidecar.described);
    } else if (request.IsStream()) {
      EXPECT_EQ(kind, CallKind::kStream);
    }
  }
}

// Check A51.
void CheckBudget(SimSidecar& sidecar) {
  const RetryPolicy& retry = sidecar.policy.retry;
  const RetryBudgetPolicy& budget = retry.budget;
  // The application's own retries earn nothing, and are free where they are not limited. Streams
  // that were refused are sent again for nothing as long as few are.
  const bool limited = retry.app_retries == AppRetries::kLimit &&
                       retry.mode == RetryMode::kEnforce && !sidecar.inbound;
  int64_t deposits = 0;
  int64_t free = 0;
  for (const SimHost& call : sidecar.calls()) {
    if (call.attempts() == 0) continue;
    const bool own = call.attempt(1).previous_attempts == 0;
    deposits += own ? 1 : 0;
    free += own || limited ? 0 : 1;
    std::set<int> numbers;
    for (AttemptId id = 1; id <= call.attempts(); ++id) {
      numbers.insert(call.attempt(id).previous_attempts);
    }
    free += call.attempts() - static_cast<int64_t>(numbers.size());
  }
  const double windows = std::ceil(absl::FDivDuration(sidecar.clock().elapsed(), budget.window));
  const double floor = budget.floor_per_second * absl::ToDoubleSeconds(budget.window);
  const double bound = static_cast<double>(deposits) * (1 + budget.ratio) +
                       floor * std::max(windows, 1.0) + static_cast<double>(free);
  ASSERT_LE(static_cast<double>(sidecar.tally().attempts), bound + 1e-6);
}

namespace {

// Nothing is left of calls in what they share.
void CheckLeft(SimSidecar& sidecar) {
  EXPECT_EQ(sidecar.replay().used(), 0);
  EXPECT_EQ(sidecar.budget().Read(sidecar.clock().now()).waiting, 0);
  if (GuardLine* const guard = sidecar.guard()) {
    const GuardView view = guard->guard().View(sidecar.clock().now());
    EXPECT_EQ(view.in_flight, 0);
    EXPECT_EQ(view.waiting, 0);
  }
  if (DedupeTable* const dedupe = sidecar.dedupe()) {
    EXPECT_EQ(dedupe->GetView().in_flight, 0U);
  }
  for (const SimHost& call : sidecar.calls()) EXPECT_FALSE(call.timer_armed());
}

}  // namespace

void CheckEnded(SimSidecar& sidecar, const FactsOfCalls& facts) {
  CheckLeft(sidecar);
  CheckKinds(sidecar);
  // A73: nothing ran at the upstream that no record tells of.
  int64_t recorded = 0;
  for (const SimHost& call : sidecar.calls()) {
    recorded += static_cast<int64_t>(call.record().attempts.size());
  }
  EXPECT_LE(sidecar.tally().attempts, recorded);
  for (const SimHost& call : sidecar.calls()) {
    CheckCall(sidecar, call, facts.at(&call));
  }
}

void CheckAdmission(const SimSidecar& sidecar, const SimAdmission& admission) {
  if (sidecar.admission != &admission) return;
  EXPECT_EQ(admission.waiting(), 0u);
  int64_t begun = 0;
  for (const SimHost& call : sidecar.calls()) begun += call.attempts() > 0 ? 1 : 0;
  EXPECT_EQ(admission.charged(), begun);
}

}  // namespace levee
