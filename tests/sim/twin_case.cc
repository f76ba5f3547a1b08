// SPDX-License-Identifier: Apache-2.0
#include "sim/twin_case.h"

#include "base/random.h"
#include "call/random_policy.h"

namespace levee {
namespace {

absl::Duration Ms(int64_t n) { return absl::Milliseconds(n); }

// Without draws, and in whole milliseconds.
void MakeExact(BackoffPolicy& backoff, const Draws& draws) {
  if (backoff.kind == BackoffPolicy::Kind::kSlot) backoff.kind = BackoffPolicy::Kind::kSchedule;
  backoff.schedule = {draws.OneOf({Ms(0), Ms(10), Ms(70)}), draws.OneOf({Ms(20), Ms(300)})};
  backoff.initial = draws.OneOf({Ms(10), Ms(50), Ms(100)});
  backoff.max = backoff.initial * draws.OneOf({1, 4, 50});
  backoff.jitter = Jitter::kNone;
  backoff.add = Ms(0);
}

CallPolicy ExactPolicy(const Draws& draws) {
  CallPolicy policy = RandomPolicy(draws);
  policy.name = "default";
  RetryPolicy& retry = policy.retry;
  MakeExact(retry.backoff, draws);
  for (RetryRule& rule : retry.rules) MakeExact(rule.backoff, draws);
  const bool bounded = retry.attempt_timeout < absl::InfiniteDuration();
  if (bounded) retry.attempt_timeout = draws.OneOf({Ms(100), Ms(200)});
  if (policy.timeout < absl::InfiniteDuration()) policy.timeout = draws.OneOf({Ms(95), Ms(500)});
  if (policy.hedge.has_value()) {
    policy.hedge->delay = draws.OneOf({Ms(20), Ms(200)});
    policy.hedge->quantile = 0;
  }
  return policy;
}

// Times that seldom meet those of policies.
absl::Duration SomeTime(const Draws& draws) {
  return draws.OneOf({Ms(1), Ms(7), Ms(13), Ms(29), Ms(41), Ms(87), Ms(131)});
}

Answer RandomFailure(const Draws& draws) {
  const absl::Duration at = SomeTime(draws);
  Answer answer;
  const bool head = draws.Chance(0.3);
  if (head) answer.Head(at);
  if (head && draws.Chance(0.3)) answer.Message(at, "part");
  // A reset takes back a head that has not left yet.
  const absl::Duration end = head ? at + draws.OneOf({Ms(3), Ms(37)}) : at;
  switch (draws.below(8)) {
    case 0:
      return answer.Trailers(end, draws.OneOf({StatusCode::kInternal, StatusCode::kNotFound}));
    case 1:
      return answer.Trailers(end, StatusCode::kUnavailable, "busy",
                             {{"grpc-retry-pushback-ms", draws.OneOf({"0", "30", "-1", "none"})}});
    case 2:
      return answer.Reset(end,
                          draws.OneOf({kResetRefusedStream, kResetCancel, kResetInternalError}));
    case 3:
      return answer.Trailers(end, StatusCode::kUnavailable, "full",
                             {{"levee-overload", draws.OneOf({"service", "endpoint;hops=2"})}});
    case 4:
      if (!head) return answer.Http(end, draws.OneOf({503, 404, 429}));
      return answer.EndWithoutStatus(end);
    default:
      return answer.Trailers(end, StatusCode::kUnavailable, "down", {{"x-cause", "50% of it"}});
  }
}

Answer RandomTwinAnswer(const Draws& draws, double failing) {
  if (draws.Chance(failing)) return RandomFailure(draws);
  if (draws.Chance(0.05)) return Silence();
  const absl::Duration at = SomeTime(draws);
  return Answer().Head(at).Message(at + Ms(3), "pong").Trailers(at + Ms(5), StatusCode::kOk);
}

TwinCall RandomTwinCall(const Draws& draws, int most_failures) {
  TwinCall call;
  if (draws.Chance(0.3)) call.timeout = draws.OneOf({Ms(60), Ms(170), Ms(800)});
  if (draws.Chance(0.1)) call.previous_attempts = 1;
  call.body = draws.OneOf({"ping", "more than eight bytes", ""});
  // What starts no timer comes between the ticks, where it meets nothing else.
  if (draws.Chance(0.15)) call.end_at = absl::Microseconds(17'500);
  if (draws.Chance(0.05)) call.end_at = std::nullopt;
  // Every call ends: an upstream that is silent would keep it.
  call.leave_at = absl::Microseconds(draws.Chance(0.1) ? 61'500 : 4'003'500);
  const double failing = draws.OneOf({0.1, 0.7, 1.0});
  for (int i = 0; i < most_failures; ++i) call.answers.push_back(RandomTwinAnswer(draws, failing));
  return call;
}

}  // namespace

TwinCase RandomTwinCase(uint64_t seed) {
  Random random(seed);
  const Draws draws = {.below = [&](uint64_t bound) { return random.Below(bound); },
                       .uniform = [&] { return random.Uniform(); }};
  TwinCase twin;
  twin.policy = ExactPolicy(draws);
  twin.overload.honor = {.levee = draws.Chance(0.8),
                         .error_info = draws.Chance(0.5),
                         .pushback = draws.Chance(0.5),
                         .envoy = draws.Chance(0.5)};
  twin.endpoints = draws.OneOf({1, 2, 2, 3});
  // One call opens the connections and gives the latency estimate something to go by.
  twin.calls.push_back({.body = "ping", .answers = {Ok()}});
  const int calls = twin.endpoints == 1 ? draws.OneOf({1, 3, 6}) : 1;
  for (int i = 0; i < calls; ++i) {
    TwinCall& call = twin.calls.emplace_back(RandomTwinCall(draws, 4));
    call.at = absl::Seconds(1) + i * Ms(211);
    // The answer after the fourth is good, so that no endpoint fails five times in a row.
    call.answers.push_back(Ok());
  }
  return twin;
}

}  // namespace levee
