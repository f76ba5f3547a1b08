// SPDX-License-Identifier: Apache-2.0
#include "config/build_policy.h"

#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/host_port.h"
#include "config/build_guard.h"
#include "config/checked.h"
#include "config/rate_limit_text.h"

namespace levee {
namespace {

namespace v1 = config::v1;

void BuildJitter(const v1::Jitter& jitter, BackoffPolicy& backoff) {
  switch (jitter.form_case()) {
    case v1::Jitter::kFactor:
      backoff.jitter = Jitter::kFactor;
      backoff.factor = jitter.factor();
      return;
    case v1::Jitter::kAdd:
      backoff.jitter = Jitter::kAdd;
      backoff.add = DurationOf(jitter.add());
      return;
    default:
      break;
  }
  switch (jitter.kind()) {
    case v1::Jitter::KIND_NONE:
      backoff.jitter = Jitter::kNone;
      return;
    case v1::Jitter::KIND_EQUAL:
      backoff.jitter = Jitter::kEqual;
      return;
    case v1::Jitter::KIND_DECORRELATED:
      backoff.jitter = Jitter::kDecorrelated;
      return;
    default:
      backoff.jitter = Jitter::kFull;
      return;
  }
}

// Builds the fields that a Backoff and a Reconnect have in common.
template <typename Message>
void BuildExponential(const Message& message, BackoffPolicy& backoff) {
  backoff.kind = BackoffPolicy::Kind::kExponential;
  backoff.initial = DurationOf(message.initial());
  backoff.multiplier = message.multiplier();
  backoff.max = DurationOf(message.max());
  BuildJitter(message.jitter(), backoff);
}

// The fields of one kind exclude those of the other kinds.
BackoffPolicy BuildBackoff(const v1::Backoff& message) {
  BackoffPolicy backoff;
  if (message.has_constant()) {
    backoff.kind = BackoffPolicy::Kind::kSchedule;
    backoff.schedule = {DurationOf(message.constant())};
  } else if (message.schedule_size() > 0) {
    backoff.kind = BackoffPolicy::Kind::kSchedule;
    for (const std::string& delay : message.schedule()) {
      backoff.schedule.push_back(DurationOf(delay));
    }
  } else if (message.has_slot()) {
    backoff.kind = BackoffPolicy::Kind::kSlot;
    backoff.slot = DurationOf(message.slot());
    backoff.truncate = message.truncate();
  } else {
    BuildExponential(message, backoff);
    backoff.cap_after_jitter = message.cap() == v1::Backoff::CAP_AFTER_JITTER;
  }
  backoff.max_elapsed = DurationOf(message.max_elapsed());
  backoff.max_advice = DurationOf(message.max_advice());
  return backoff;
}

RetryBudgetPolicy BuildBudget(const v1::Budget& message, int max_attempts) {
  RetryBudgetPolicy budget;
  budget.ratio = message.ratio();
  budget.window = DurationOf(message.window());
  budget.floor_per_second = message.floor().per_second();
  budget.floor_min_success = message.floor().min_success();
  budget.burst_follows = !message.burst().has_least();
  budget.burst_least =
      message.burst().has_least() ? message.burst().least() : SpareRetries(max_attempts);
  budget.burst_span = DurationOf(message.burst().span());
  const absl::Duration wait = DurationOf(message.wait());
  budget.wait = wait == absl::InfiniteDuration() ? absl::ZeroDuration() : wait;  // `none`
  return budget;
}

// Builds the lists of outcomes that a Retry and a RetryRule have in common.
template <typename Message>
RetryableFailures BuildFailures(const Message& message) {
  RetryableFailures failures{false, false, false, false};
  for (const int failure : message.failures()) {
    failures.refused |= failure == v1::Retry::FAILURE_REFUSED;
    failures.connect |= failure == v1::Retry::FAILURE_CONNECT;
    failures.reset |= failure == v1::Retry::FAILURE_RESET;
    failures.timeout |= failure == v1::Retry::FAILURE_TIMEOUT;
  }
  return failures;
}

template <typename Message>
HttpStatusSet BuildHttpStatuses(const Message& message) {
  HttpStatusSet statuses;
  for (const std::string& text : message.http()) {
    const bool whole_class = text.ends_with("xx");  // "5xx"
    whole_class ? statuses.AddClass(text[0] - '0') : statuses.Add(std::stoi(text));
  }
  return statuses;
}

StatusCodeSet BuildCodes(const google::protobuf::RepeatedPtrField<std::string>& texts) {
  StatusCodeSet codes;
  for (const std::string& text : texts) codes.Add(Checked(ParseFailureCode(text)));
  return codes;
}

ExhaustedMode BuildExhausted(v1::Retry::Exhausted mode) {
  switch (mode) {
    case v1::Retry::EXHAUSTED_REPLACE:
      return ExhaustedMode::kReplace;
    case v1::Retry::EXHAUSTED_MARK:
      return ExhaustedMode::kMark;
    case v1::Retry::EXHAUSTED_KEEP:
      return ExhaustedMode::kKeep;
    default:
      return ExhaustedMode::kAuto;
  }
}

AppRetries BuildAppRetries(v1::Retry::AppRetries mode) {
  switch (mode) {
    case v1::Retry::APP_RETRIES_COUNT:
      return AppRetries::kCount;
    case v1::Retry::APP_RETRIES_IGNORE:
      return AppRetries::kIgnore;
    default:
      return AppRetries::kLimit;
  }
}

IdempotencyMode BuildIdempotency(v1::Idempotency::Mode mode) {
  switch (mode) {
    case v1::Idempotency::MODE_ALWAYS:
      return IdempotencyMode::kAlways;
    case v1::Idempotency::MODE_NEVER:
      return IdempotencyMode::kNever;
    default:
      return IdempotencyMode::kAuto;
  }
}

// `policy`: the rule's policy, with everything else built.
RetryRule BuildRule(const v1::RetryRule& message, const RetryPolicy& policy) {
  RetryRule rule;
  rule.codes = BuildCodes(message.codes());
  rule.http = BuildHttpStatuses(message);
  rule.failures = BuildFailures(message);
  rule.max_attempts = message.has_max_attempts() ? message.max_attempts() : policy.max_attempts;
  rule.backoff = message.has_backoff() ? BuildBackoff(message.backoff()) : policy.backoff;
  return rule;
}

RetryPolicy BuildRetry(const v1::Retry& message) {
  RetryPolicy retry;
  retry.max_attempts = message.max_attempts();
  retry.codes = BuildCodes(message.codes());
  retry.failures = BuildFailures(message);
  retry.http = BuildHttpStatuses(message);
  retry.attempt_timeout = DurationOf(message.attempt_timeout());
  retry.backoff = BuildBackoff(message.backoff());
  retry.budget = BuildBudget(message.budget(), retry.max_attempts);
  retry.buffer_bytes = static_cast<size_t>(Checked(ParseSize(message.buffer())));
  retry.commit =
      message.commit() == v1::Retry::COMMIT_HEADERS ? CommitMode::kHeaders : CommitMode::kAuto;
  retry.hold = DurationOf(message.hold());
  retry.exhausted = BuildExhausted(message.exhausted());
  retry.app_retries = BuildAppRetries(message.app_retries());
  retry.app_retries_loops = BuildAppRetries(message.app_retries_loops());
  retry.min_remaining = message.min_remaining() == v1::Retry::MIN_REMAINING_P50;
  retry.mode =
      message.mode() == v1::Retry::MODE_OBSERVE ? RetryMode::kObserve : RetryMode::kEnforce;
  for (const v1::RetryRule& rule : message.rules()) retry.rules.push_back(BuildRule(rule, retry));
  return retry;
}

HedgePolicy BuildHedge(const v1::Hedge& message) {
  HedgePolicy hedge;
  if (message.delay().starts_with('p')) {
    hedge.quantile = Checked(ParsePercentile(message.delay()));
  } else {
    hedge.delay = DurationOf(message.delay());
  }
  hedge.max_attempts = message.max_attempts();
  hedge.non_fatal = BuildCodes(message.non_fatal());
  return hedge;
}

// Of a limit whose rate only a service knows: what a host that cannot ask it goes by.
constexpr int kNoRate = 1'000'000'000;

RateLimitPolicy BuildRateLimit(const v1::RateLimit& message) {
  RateLimitPolicy limit;
  limit.name = message.name();
  if (message.has_rls()) {
    limit.per_second = kNoRate;
    limit.burst = kNoRate;
  } else {
    limit.per_second = Checked(ParseRate(message.rate())).per_second();
    limit.burst = message.burst();
  }
  for (const std::string& key : message.key()) {
    limit.key.push_back(Checked(ParseRateLimitKey(key)));
  }
  const bool waits = message.has_max_wait() && message.max_wait() != "none";
  limit.max_wait = waits ? DurationOf(message.max_wait()) : absl::ZeroDuration();
  if (message.has_max_keys()) limit.max_keys = message.max_keys();
  limit.adaptive = message.adaptive();
  return limit;
}

// The store's timeout is not known here.
SharedRate BuildSharedRate(const std::string& policy, const v1::RateLimit& message) {
  SharedRate shared;
  shared.name = absl::StrCat(policy, "/", message.name());
  shared.store = message.store();
  if (message.on_failure() == v1::RateLimit::ON_FAILURE_ALLOW) shared.away = StoreAway::kAllow;
  if (message.on_failure() == v1::RateLimit::ON_FAILURE_DENY) shared.away = StoreAway::kDeny;
  shared.grace = DurationOf(message.grace());
  return shared;
}

SharedRate BuildServiceRate(const std::string& policy, const v1::RateLimit& message) {
  const v1::RateLimit::Rls& rls = message.rls();
  const std::optional<HostPort> address = SplitHostPort(rls.address());
  LEVEE_CHECK(address.has_value());
  SharedRate shared;
  shared.name = absl::StrCat(policy, "/", message.name());
  shared.service = RateService{.host = std::string(address->host),
                               .port = address->port,
                               .domain = rls.domain(),
                               .lease = DurationOf(rls.lease())};
  shared.timeout = DurationOf(rls.timeout());
  shared.away = rls.on_failure() == v1::RateLimit::Rls::ON_FAILURE_DENY ? StoreAway::kDeny
                                                                        : StoreAway::kAllow;
  return shared;
}

ThrottlePolicy BuildThrottle(const v1::Throttle& message) {
  ThrottlePolicy throttle;
  throttle.k = message.k();
  throttle.window = DurationOf(message.window());
  throttle.min_calls = message.min_calls();
  throttle.on = {.mark = false, .timeout = false};
  for (const int sign : message.on()) {
    throttle.on.mark |= sign == v1::Throttle::SIGN_MARK;
    throttle.on.timeout |= sign == v1::Throttle::SIGN_TIMEOUT;
    throttle.on.resource_exhausted |= sign == v1::Throttle::SIGN_RESOURCE_EXHAUSTED;
    throttle.on.unavailable |= sign == v1::Throttle::SIGN_UNAVAILABLE;
  }
  throttle.mode = message.mode() == v1::Throttle::MODE_ENFORCE ? ThrottleMode::kEnforce
                                                               : ThrottleMode::kObserve;
  return throttle;
}

}  // namespace

CallPolicy BuildPolicy(const v1::Policy& message) {
  CallPolicy policy;
  policy.name = message.name();
  policy.timeout = DurationOf(message.timeout());
  policy.stream = {.timeout = DurationOf(message.stream().timeout()),
                   .idle = DurationOf(message.stream().idle())};
  policy.retry = BuildRetry(message.retry());
  if (message.has_hedge()) policy.hedge = BuildHedge(message.hedge());
  policy.idempotency = BuildIdempotency(message.idempotency().mode());
  policy.key_header = message.idempotency().key().header();
  for (const v1::RateLimit& limit : message.rate_limit()) {
    policy.rate_limits.push_back(BuildRateLimit(limit));
    if (limit.scope() == v1::RateLimit::SCOPE_GLOBAL) {
      policy.rate_limits.back().shared = BuildSharedRate(policy.name, limit);
    } else if (limit.scope() == v1::RateLimit::SCOPE_RLS) {
      policy.rate_limits.back().shared = BuildServiceRate(policy.name, limit);
    }
  }
  policy.throttle.reset();
  if (message.has_throttle()) policy.throttle = BuildThrottle(message.throttle());
  if (message.has_guard()) policy.guard = BuildGuard(message.guard());
  if (message.guard().has_dedupe()) policy.dedupe = BuildDedupe(message.guard().dedupe());
  return policy;
}

BackoffPolicy BuildReconnect(const v1::Reconnect& message) {
  BackoffPolicy backoff;
  BuildExponential(message, backoff);
  return backoff;
}

OverloadPolicy BuildOverload(const v1::Overload& message) {
  OverloadPolicy overload;
  overload.status = Checked(ParseFailureCode(message.status()));
  overload.honor = {false, false, false, false};
  for (const int signal : message.honor()) {
    overload.honor.levee |= signal == v1::Overload::SIGNAL_LEVEE;
    overload.honor.error_info |= signal == v1::Overload::SIGNAL_ERROR_INFO;
    overload.honor.pushback |= signal == v1::Overload::SIGNAL_PUSHBACK;
    overload.honor.envoy |= signal == v1::Overload::SIGNAL_ENVOY;
  }
  return overload;
}

}  // namespace levee
