// SPDX-License-Identifier: Apache-2.0
#include "call/random_world.h"

#include <algorithm>
#include <string>

#include "call/call_fixture.h"

namespace levee {
namespace {

// Every caller has left by then, so that every call ends.
constexpr absl::Duration kPatience = absl::Seconds(20);

}  // namespace

RandomWorld::RandomWorld(uint64_t seed)
    : random_(seed),
      sidecar_(clock_, RandomPolicy(draws_), seed),
      calls_per_second_(draws_.OneOf({0.2, 1.0, 10.0, 100.0, 1000.0})),
      failing_(draws_.OneOf({0.05, 0.3, 0.8, 1.0})) {
  sidecar_.KeepCalls();
  sidecar_.replay_bytes = draws_.OneOf<int64_t>({0, 40, 1 << 20});
  sidecar_.overload.honor = {.levee = draws_.Chance(0.5),
                             .error_info = draws_.Chance(0.5),
                             .pushback = draws_.Chance(0.5),
                             .envoy = draws_.Chance(0.5)};
  if (draws_.Chance(0.3)) sidecar_.admission = &admission_;
  for (int64_t i = draws_.OneOf({1, 2, 4}); i > 0; --i) {
    sidecar_.AddEndpoint([this](SimHost&, AttemptId) { return RandomAnswer(); });
  }
}

Answer RandomWorld::Failure() {
  Answer answer;
  const absl::Duration at = draws_.UpTo(draws_.OneOf({0, 10, 300}));
  if (draws_.Chance(0.2)) answer.Informational(at / 4);
  if (draws_.Chance(0.2)) answer.ReadOnly(random_.Below(10)).ReadOn(at / 2, 100);
  const bool head = draws_.Chance(0.3);
  if (head) answer.Head(at / 3);
  if (head && draws_.Chance(0.3)) answer.Message(at / 2, "part");
  const std::string pushback = draws_.OneOf({"0", "30", "-1", "none"});
  switch (random_.Below(head ? 4 : 9)) {
    case 0:
      return answer.Trailers(at, draws_.OneOf({StatusCode::kUnavailable, StatusCode::kInternal}));
    case 1:
      return answer.Trailers(at, StatusCode::kUnavailable, "busy",
                             {{"grpc-retry-pushback-ms", pushback}});
    case 2:
      return answer.ConnectionLost(at);
    case 3:
      return answer.Reset(at,
                          draws_.OneOf({kResetRefusedStream, kResetCancel, kResetInternalError}));
    case 4:
      return answer.GoAwayExcluding(at);
    case 5:
      return answer.Unsent(at);
    case 6:
      return answer.CannotConnect(at);
    case 7:
      return answer.Http(at, draws_.OneOf({503, 404}));
    default:
      return answer.Trailers(at, StatusCode::kUnavailable, "full",
                             {{"levee-overload", draws_.OneOf({"service", "endpoint;hops=2"})}});
  }
}

Answer RandomWorld::RandomAnswer() {
  if (draws_.Chance(failing_)) return Failure();
  if (draws_.Chance(0.05)) return Silence();
  const absl::Duration at = draws_.UpTo(draws_.OneOf({0, 10, 300}));
  return Answer().Head(at).Message(at * 2, "pong").Trailers(at * 3, StatusCode::kOk);
}

RequestFacts RandomWorld::Facts() {
  RequestFacts facts;
  if (draws_.Chance(0.4))
    facts.timeout = draws_.OneOf({Ms(0), Ms(1), draws_.UpTo(100), draws_.UpTo(2000)});
  if (draws_.Chance(0.2)) facts.previous_attempts = draws_.OneOf({1, 2});
  return facts;
}

void RandomWorld::AddTwin() {
  sidecar_.policy.retry.budget = {.ratio = 1000,
                                  .floor_per_second = 1000,
                                  .floor_min_success = 0,
                                  .burst_least = 1000,
                                  .wait = absl::ZeroDuration()};
  // Delays are drawn by each, and decide what is too late.
  BackoffPolicy fixed;
  fixed.jitter = Jitter::kNone;
  sidecar_.policy.retry.backoff = fixed;
  for (RetryRule& rule : sidecar_.policy.retry.rules) rule.backoff = fixed;
  sidecar_.shadow = sidecar_.policy;
}

void RandomWorld::Run() {
  Arrive();
  clock_.Run();
  CheckBudget(sidecar_);
  CheckEnded(sidecar_, facts_);
  CheckAdmission(sidecar_, admission_);
  for (const SimHost& call : sidecar_.calls()) {
    if (call.caller().code == StatusCode::kOk) {
      EXPECT_EQ(call.caller().body, "pong");
    }
    if (sidecar_.shadow.has_value()) {
      EXPECT_EQ(call.record().shadow.value_or(ShadowOutcome::kSame), ShadowOutcome::kSame);
    }
  }
}

void RandomWorld::Arrive() {
  if (calls_left_-- == 0) return;
  const RequestFacts facts = Facts();
  SimHost& call = sidecar_.NewCall(facts);
  facts_[&call] = facts;
  Speak(call);
  CheckBudget(sidecar_);
  clock_.After(absl::Seconds(2 * random_.Uniform() / calls_per_second_), [this] { Arrive(); });
  if (draws_.Chance(0.1)) sidecar_.endpoints().SetReachable(0, draws_.Chance(0.5));
}

// The caller sends up to five messages, half-closes perhaps, and loses patience at some time.
void RandomWorld::Speak(SimHost& call) {
  if (draws_.Chance(0.5)) {
    call.Send("ping", /*end=*/true);
  } else {
    absl::Duration at;
    for (uint64_t i = random_.Below(6); i > 0; --i) {
      at += draws_.UpTo(draws_.OneOf({0, 5, 200}));
      clock_.After(at, [&call, i] { call.Send("message " + std::to_string(i)); });
    }
    if (draws_.Chance(0.9)) clock_.After(at + draws_.UpTo(100), [&call] { call.HalfClose(); });
  }
  clock_.After(draws_.Chance(0.2) ? draws_.UpTo(300) : kPatience, [&call] { call.Leave(); });
}

}  // namespace levee
