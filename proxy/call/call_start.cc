// SPDX-License-Identifier: Apache-2.0
// How a call begins: its deadline, and what it passes before its first attempt.
#include <algorithm>
#include <optional>

#include "call/call.h"

namespace levee {
namespace {

// How long before its deadline, as seen here, a caller that leaves does so because of it. The
// caller's clock started earlier than this one, by the request's way here, and its reset takes as
// long; what differs is what delays the one and not the other (a busy CPU, a full queue): up to a
// fifth of the timeout, but no more than 20 ms. The hundredth is for callers that round the timeout
// they send up: gRPC's core does, to two or three digits.
absl::Duration DeadlineTolerance(absl::Duration timeout) {
  const absl::Duration delay =
      timeout < absl::Milliseconds(100) ? timeout / 5 : absl::Milliseconds(20);
  return delay + timeout / 100;
}

// The share of answers that are the fastest ones. A call that has more time than kEnough may still
// have luck: an answer can come sooner than all others, and a failure mostly does.
constexpr double kFastest = 0.01;
constexpr absl::Duration kEnough = absl::Milliseconds(50);

}  // namespace

void Call::Start(const RequestFacts& facts, Instant now) {
  const OneEvent event(&books_.plan.replay);
  books_.record.start = now;
  // Far above any real count, and the sum with our own attempts stays a number.
  constexpr int kMaxAppAttempts = 1'000'000;
  books_.app_attempts = std::clamp(facts.previous_attempts, 0, kMaxAppAttempts);
  const absl::Duration bound =
      books_.signs.is_stream() ? books_.plan.policy.stream.timeout : books_.plan.policy.timeout;
  const absl::Duration timeout = std::min(facts.timeout, bound);
  books_.deadline = now + timeout;
  if (facts.timeout < absl::InfiniteDuration()) {
    books_.callers_deadline = now + facts.timeout;
    books_.callers_leave_from = now + (facts.timeout - DeadlineTolerance(facts.timeout));
  }
  books_.rate_keys = facts.rate_keys;
  books_.priority = facts.priority;
  books_.user = facts.user;
  if (facts.in_vain) {
    EndInVain(now);
  } else if (timeout <= absl::ZeroDuration()) {
    EndLocally(StatusCode::kDeadlineExceeded, "deadline passed before the call arrived", now);
  } else if (books_.plan.dedupe != nullptr && !BeginKey(facts, now)) {
    return;
  } else if (entry_.Start(now)) {
    Begin(now);
  }
}

// False if the call is refused for its key, and finished.
bool Call::BeginKey(const RequestFacts& facts, Instant now) {
  if (!facts.dedupe_fault.empty()) {
    books_.record.dedupe = DedupeResult::kRefused;
    EndLocally(StatusCode::kInvalidArgument, facts.dedupe_fault, now);
    return false;
  }
  // The answer of a stream cannot be kept.
  if (!facts.dedupe_key.empty() && !books_.method.IsSurelyStream()) {
    key_.reset(new KeyGate(books_, *this, facts));
  }
  return true;
}

// The least time in which an attempt can be answered, at most kEnough.
absl::Duration Call::LeastTime(Instant now) {
  if (!books_.plan.policy.retry.min_remaining || books_.Observes()) return kLeastTimeout;
  const auto fastest = books_.plan.latency.Quantile(kFastest, now);
  // A quantile is up to an eighth too high.
  return std::clamp(fastest.value_or(absl::ZeroDuration()) * 8 / 9, kLeastTimeout, kEnough);
}

void Call::Begin(Instant now) {
  const absl::Duration left = books_.deadline - now;
  // Most have so much time that no latency needs to be known.
  if (left < kEnough && left < LeastTime(now)) {
    EndLocally(StatusCode::kDeadlineExceeded, "less time is left than any answer takes", now);
    return;
  }
  if (key_ != nullptr && !key_->Enter(now)) return;
  if (books_.plan.guard == nullptr) {
    StartFirstAttempt(now);
  } else {
    guard_.Enter(now);
  }
}

void Call::StartFirstAttempt(Instant now) {
  entry_.OnFirstAttempt();
  // A retry, whoever makes it, pays for no others.
  attempts_.StartFirst(entry_.price(), /*pays=*/!entry_.is_app_retry(), now);
}

}  // namespace levee
