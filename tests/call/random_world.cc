#include "call/random_world.h"

#include <algorithm>
#include <cmath>
#include <string>

namespace levee {
namespace {

// Every caller has left by then, so that every call ends.
constexpr absl::Duration kPatience = absl::Seconds(20);

}  // namespace

RandomWorld::RandomWorld(uint64_t seed)
    : random_(seed),
      sidecar_(clock_, Policy(), seed),
      calls_per_second_(OneOf({0.2, 1.0, 10.0, 100.0, 1000.0})),
      failing_(OneOf({0.05, 0.3, 0.8, 1.0})) {
  sidecar_.replay_bytes = OneOf<int64_t>({0, 40, 1 << 20});
  sidecar_.overload.honor = {.levee = Chance(0.5),
                             .error_info = Chance(0.5),
                             .pushback = Chance(0.5),
                             .envoy = Chance(0.5)};
  for (int64_t i = OneOf({1, 2, 4}); i > 0; --i) {
    sidecar_.AddEndpoint([this](SimHost&, AttemptId) { return RandomAnswer(); });
  }
}

CallPolicy RandomWorld::Policy() {
  CallPolicy policy;
  policy.retry = Retry();
  policy.idempotency =
      OneOf({IdempotencyMode::kAuto, IdempotencyMode::kAlways, IdempotencyMode::kNever});
  if (Chance(0.3)) policy.timeout = UpTo(3000);
  if (Chance(0.3)) {
    policy.hedge = Hedge();
    policy.retry.max_attempts = 1;
  }
  if (Chance(0.3)) policy.rate_limits.push_back(RateLimit());
  return policy;
}

HedgePolicy RandomWorld::Hedge() {
  HedgePolicy hedge;
  hedge.delay = UpTo(OneOf({0, 20, 200}));
  hedge.quantile = OneOf({0.0, 0.5, 0.9});
  hedge.max_attempts = OneOf({2, 3, 5});
  if (Chance(0.5)) hedge.non_fatal.Add(StatusCode::kInternal);
  return hedge;
}

RateLimitPolicy RandomWorld::RateLimit() {
  RateLimitPolicy limit;
  limit.name = "limit";
  limit.per_second = OneOf({0.5, 10.0, 1000.0});
  limit.burst = OneOf({1, 20});
  limit.max_wait = OneOf({Ms(0), Ms(100), Ms(5000)});
  limit.adaptive = Chance(0.3);
  return limit;
}

RetryRule RandomWorld::Rule() {
  RetryRule rule;
  if (Chance(0.5)) rule.codes.Add(StatusCode::kInternal);
  if (Chance(0.5)) rule.http.AddClass(5);
  rule.failures.reset = Chance(0.5);
  rule.max_attempts = OneOf({1, 2, 4});
  rule.backoff = RandomBackoff();
  return rule;
}

RetryPolicy RandomWorld::Retry() {
  RetryPolicy retry;
  retry.max_attempts = OneOf({1, 2, 3, 6});
  if (Chance(0.3)) retry.codes.Add(StatusCode::kInternal);
  retry.failures = {
      .refused = Chance(0.8), .connect = Chance(0.8), .reset = Chance(0.5), .timeout = Chance(0.5)};
  if (Chance(0.3)) retry.attempt_timeout = UpTo(200);
  retry.backoff = RandomBackoff();
  retry.budget.ratio = OneOf({0.0, 0.1, 0.3, 1.0});
  retry.budget.window = OneOf({Ms(500), Ms(10'000), Ms(60'000)});
  retry.budget.floor_per_second = OneOf({0.0, 0.5, 1.0, 5.0});
  retry.budget.floor_min_success = OneOf({0.0, 0.5, 0.8, 1.0});
  retry.buffer_bytes = OneOf<size_t>({0, 8, 64 * 1024});
  retry.commit = OneOf({CommitMode::kAuto, CommitMode::kHeaders});
  retry.hold = OneOf({Ms(0), Ms(20), absl::InfiniteDuration()});
  retry.exhausted = OneOf(
      {ExhaustedMode::kAuto, ExhaustedMode::kReplace, ExhaustedMode::kMark, ExhaustedMode::kKeep});
  retry.min_remaining = Chance(0.5);
  if (Chance(0.1)) retry.mode = RetryMode::kObserve;
  if (Chance(0.3)) retry.http.Add(404);
  for (uint64_t i = random_.Below(3); i > 0; --i) retry.rules.push_back(Rule());
  retry.app_retries = OneOf({AppRetries::kLimit, AppRetries::kCount, AppRetries::kIgnore});
  return retry;
}

BackoffPolicy RandomWorld::RandomBackoff() {
  BackoffPolicy backoff;
  backoff.kind = OneOf({BackoffPolicy::Kind::kExponential, BackoffPolicy::Kind::kExponential,
                        BackoffPolicy::Kind::kSchedule, BackoffPolicy::Kind::kSlot});
  backoff.schedule = {UpTo(200), UpTo(1000)};
  backoff.slot = Ms(1) + UpTo(20);
  backoff.truncate = OneOf({1, 5});
  backoff.cap_after_jitter = Chance(0.5);
  backoff.max_elapsed = OneOf({Ms(100), absl::InfiniteDuration()});
  backoff.max_advice = OneOf({Ms(10), absl::Seconds(60)});
  backoff.initial = Ms(1) + UpTo(200);
  backoff.multiplier = OneOf({1.0, 2.0, 4.0});
  backoff.max = backoff.initial + UpTo(2000);
  backoff.jitter = OneOf({Jitter::kNone, Jitter::kFull, Jitter::kEqual, Jitter::kFactor,
                          Jitter::kAdd, Jitter::kDecorrelated});
  backoff.factor = 0.2;
  backoff.add = Ms(50);
  return backoff;
}

Answer RandomWorld::Failure() {
  Answer answer;
  const absl::Duration at = UpTo(OneOf({0, 10, 300}));
  if (Chance(0.2)) answer.Informational(at / 4);
  if (Chance(0.2)) answer.ReadOnly(random_.Below(10)).ReadOn(at / 2, 100);
  const bool head = Chance(0.3);
  if (head) answer.Head(at / 3);
  if (head && Chance(0.3)) answer.Message(at / 2, "part");
  const std::string pushback = OneOf({"0", "30", "-1", "none"});
  switch (random_.Below(head ? 4 : 9)) {
    case 0:
      return answer.Trailers(at, OneOf({StatusCode::kUnavailable, StatusCode::kInternal}));
    case 1:
      return answer.Trailers(at, StatusCode::kUnavailable, "busy",
                             {{"grpc-retry-pushback-ms", pushback}});
    case 2:
      return answer.ConnectionLost(at);
    case 3:
      return answer.Reset(at, OneOf({kResetRefusedStream, kResetCancel, kResetInternalError}));
    case 4:
      return answer.GoAwayExcluding(at);
    case 5:
      return answer.Unsent(at);
    case 6:
      return answer.CannotConnect(at);
    case 7:
      return answer.Http(at, OneOf({503, 404}));
    default:
      return answer.Trailers(at, StatusCode::kUnavailable, "full",
                             {{"levee-overload", OneOf({"service", "endpoint;hops=2"})}});
  }
}

Answer RandomWorld::RandomAnswer() {
  if (Chance(failing_)) return Failure();
  if (Chance(0.05)) return Silence();
  const absl::Duration at = UpTo(OneOf({0, 10, 300}));
  return Answer().Head(at).Message(at * 2, "pong").Trailers(at * 3, StatusCode::kOk);
}

RequestFacts RandomWorld::Facts() {
  RequestFacts facts;
  if (Chance(0.4)) facts.timeout = OneOf({Ms(0), Ms(1), UpTo(100), UpTo(2000)});
  if (Chance(0.2)) facts.previous_attempts = OneOf({1, 2});
  return facts;
}

void RandomWorld::Run() {
  Arrive();
  clock_.Run();
  CheckBudget();
  EXPECT_EQ(sidecar_.replay().used(), 0);
  // A73: nothing ran at the upstream that no record tells of.
  int64_t recorded = 0;
  for (const SimHost& call : sidecar_.calls()) {
    recorded += static_cast<int64_t>(call.record().attempts.size());
  }
  EXPECT_LE(sidecar_.attempts(), recorded);
  for (const SimHost& call : sidecar_.calls()) CheckCall(call, facts_.at(&call));
}

void RandomWorld::Arrive() {
  if (calls_left_-- == 0) return;
  const RequestFacts facts = Facts();
  SimHost& call = sidecar_.NewCall(facts);
  facts_[&call] = facts;
  Speak(call);
  CheckBudget();
  clock_.After(absl::Seconds(2 * random_.Uniform() / calls_per_second_), [this] { Arrive(); });
  if (Chance(0.1)) sidecar_.SetReachable(0, Chance(0.5));
}

// The caller sends up to five messages, half-closes perhaps, and loses patience at some time.
void RandomWorld::Speak(SimHost& call) {
  if (Chance(0.5)) {
    call.Send("ping", /*end=*/true);
  } else {
    absl::Duration at;
    for (uint64_t i = random_.Below(6); i > 0; --i) {
      at += UpTo(OneOf({0, 5, 200}));
      clock_.After(at, [&call, i] { call.Send("message " + std::to_string(i)); });
    }
    if (Chance(0.9)) clock_.After(at + UpTo(100), [&call] { call.HalfClose(); });
  }
  clock_.After(Chance(0.2) ? UpTo(300) : kPatience, [&call] { call.Leave(); });
}

// Check A51.
void RandomWorld::CheckBudget() {
  const RetryPolicy& retry = sidecar_.policy.retry;
  const RetryBudgetPolicy& budget = retry.budget;
  // What an application tries again by itself earns nothing, and is free where it is not limited.
  const bool limited = retry.app_retries == AppRetries::kLimit && retry.mode == RetryMode::kEnforce;
  int64_t deposits = 0;
  int64_t free = 0;
  for (const SimHost& call : sidecar_.calls()) {
    if (call.attempts() == 0) continue;
    const bool own = call.attempt(1).previous_attempts == 0;
    deposits += own ? 1 : 0;
    free += own || limited ? 0 : 1;
  }
  const double windows = std::ceil(absl::FDivDuration(clock_.elapsed(), budget.window));
  const double floor = budget.floor_per_second * absl::ToDoubleSeconds(budget.window);
  const double bound = static_cast<double>(deposits) * (1 + budget.ratio) +
                       floor * std::max(windows, 1.0) + static_cast<double>(free);
  ASSERT_LE(static_cast<double>(sidecar_.attempts()), bound + 1e-6);
}

void RandomWorld::CheckCall(const SimHost& call, const RequestFacts& facts) {
  ASSERT_TRUE(call.finished());
  const SimCaller& caller = call.caller();
  EXPECT_LE(caller.credited, caller.sent.size());
  EXPECT_EQ(caller.trailers.Get("grpc-status"), std::to_string(static_cast<int>(caller.code)));
  int counted = 0;
  for (const AttemptRecord& attempt : call.record().attempts) counted += !attempt.transparent;
  const CallPolicy& policy = sidecar_.policy;
  int most = policy.retry.max_attempts;
  for (const RetryRule& rule : policy.retry.rules) most = std::max(most, rule.max_attempts);
  if (policy.hedge.has_value()) most = std::max(most, policy.hedge->max_attempts);
  EXPECT_LE(counted, policy.retry.mode == RetryMode::kObserve ? 1 : most);
  for (AttemptId id = 1; id <= call.attempts(); ++id) CheckAttempt(call, id, facts);
  if (caller.code == StatusCode::kOk) {
    EXPECT_EQ(caller.body, "pong");
  }
}

void RandomWorld::CheckAttempt(const SimHost& call, AttemptId id, const RequestFacts& facts) {
  const SimAttempt& attempt = call.attempt(id);
  const SimAttempt& first = call.attempt(1);
  // Before the first attempt only a rate limit makes a call wait.
  const CallRecord& record = call.record();
  const absl::Duration waited = record.attempts.front().start - record.start;
  EXPECT_TRUE(attempt.ended_at.has_value() != attempt.cancelled_at.has_value());
  // A18: a prefix of what the caller sent, whole if END_STREAM came.
  EXPECT_TRUE(call.caller().sent.starts_with(attempt.received));
  if (attempt.half_closed) {
    EXPECT_EQ(attempt.received, call.caller().sent);
  }
  // A22, and A21: nothing goes on after the deadline.
  const absl::Duration timeout = std::min(facts.timeout, sidecar_.policy.timeout);
  EXPECT_EQ(attempt.timeout, timeout - waited - (attempt.start - first.start));
  EXPECT_LE(*call.caller().finished_at, first.start - waited + timeout);
  EXPECT_LE(attempt.start, *call.caller().finished_at);
  if (id == 1) {
    EXPECT_EQ(attempt.previous_attempts, facts.previous_attempts);
    return;
  }
  const SimAttempt& before = call.attempt(id - 1);
  const int step = attempt.previous_attempts - before.previous_attempts;
  if (sidecar_.policy.hedge.has_value()) {
    // Of several under way an older one may be sent again, with its own number.
    EXPECT_LE(step, 1);
    EXPECT_GE(attempt.previous_attempts, first.previous_attempts);
    return;
  }
  EXPECT_GE(attempt.start, before.ended_at ? *before.ended_at : *before.cancelled_at);
  EXPECT_TRUE(step == 0 || step == 1) << step;
}

}  // namespace levee
