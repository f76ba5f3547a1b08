// SPDX-License-Identifier: Apache-2.0
#include "call/random_world.h"

#include <algorithm>
#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "call/call_fixture.h"

namespace levee {
namespace {

// Every caller has left by then, so that every call ends.
constexpr absl::Duration kPatience = absl::Seconds(20);
// A call with a key goes on without its caller, until its sidecar stops.
constexpr absl::Duration kDrained = absl::Seconds(40);

// A message as gRPC frames it.
std::string Framed(const std::string& message) {
  return std::string("\0\0\0\0", 4) + static_cast<char>(message.size()) + message;
}

// What descriptors say of all calls of a world, in every fourth world. It is not drawn, so that it
// leaves what is drawn as it is.
std::optional<CallKind> Described(uint64_t seed) {
  switch (seed % 8) {
    case 3:
      return CallKind::kUnary;
    case 7:
      return CallKind::kStream;
    default:
      return std::nullopt;
  }
}

}  // namespace

int64_t RandomWorld::calls_ = 0;
uint64_t RandomWorld::seed_ = 0;

RandomWorld::RandomWorld(uint64_t seed)
    : random_(seed_ = seed),
      side_(draws_.Chance(0.3) ? Side::kInbound : Side::kEgress),
      config_(DrawConfig(draws_, side_)),
      sidecar_(clock_, config_.policy, seed),
      calls_per_second_(draws_.OneOf({0.2, 1.0, 10.0, 100.0, 1000.0})),
      failing_(draws_.OneOf({0.05, 0.3, 0.8, 1.0})),
      has_outages_(draws_.Chance(0.5)),
      repeating_(draws_.OneOf({0.0, 0.5, 0.95})) {
  sidecar_.KeepCalls();
  sidecar_.described = Described(seed);
  Share();
  for (int64_t i = draws_.OneOf({1, 2, 4}); i > 0; --i) {
    sidecar_.AddEndpoint([this](SimHost&, AttemptId) { return RandomAnswer(); });
  }
}

// What the calls have in common beside their policy.
void RandomWorld::Share() {
  sidecar_.overload = config_.overload;
  sidecar_.inbound = side_ == Side::kInbound;
  sidecar_.idempotent = draws_.Chance(0.5);
  sidecar_.replay_bytes = draws_.OneOf<int64_t>({0, 40, 1 << 20});
  sidecar_.waiting_calls = draws_.OneOf<int64_t>({0, 1, 5, 1000});
  sidecar_.connect_wait = draws_.OneOf({Ms(0), Ms(0), Ms(50), Ms(2000)});
  const auto& limits = config_.policy.rate_limits;
  const bool leased = std::any_of(limits.begin(), limits.end(),
                                  [](const auto& limit) { return limit.shared.has_value(); });
  if (leased) {
    sidecar_.leases = &leases_;
    sidecar_.admission = &leases_;
  } else if (draws_.Chance(0.3)) {
    sidecar_.admission = &admission_;
  }
  if (side_ == Side::kEgress && draws_.Chance(0.2)) {
    sidecar_.shadow = DrawConfig(draws_, Side::kEgress).policy;
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
  return EndOf(answer, head, at);
}

Answer RandomWorld::EndOf(Answer answer, bool head, absl::Duration at) {
  const std::string pushback = draws_.OneOf({"0", "30", "-1", "none", "99999999"});
  const auto code = static_cast<StatusCode>(1 + random_.Below(16));
  switch (random_.Below(head ? 6 : 11)) {
    case 0:
      return answer.Trailers(at, code);
    case 1:
      return answer.Trailers(at, StatusCode::kUnavailable, "busy",
                             {{"grpc-retry-pushback-ms", pushback}});
    case 2:
      return answer.ConnectionLost(at);
    case 3:
      return answer.Reset(at, static_cast<uint32_t>(random_.Below(14)));
    case 4:
      return answer.GoAwayExcluding(at);
    case 5:
      return head ? answer.EndWithoutStatus(at) : answer.Unsent(at);
    case 6:
      return answer.CannotConnect(at);
    case 7:
      return answer.Http(at, draws_.OneOf({503, 404, 429, 200}));
    case 8:
    case 9:
      return answer.Trailers(at, draws_.OneOf({StatusCode::kUnavailable, StatusCode::kNotFound}));
    default:
      return answer.Trailers(at, draws_.OneOf({StatusCode::kUnavailable, code}), "full",
                             {{"levee-overload", draws_.OneOf({"service", "endpoint;hops=2"})}});
  }
}

Answer RandomWorld::Good() {
  const absl::Duration at = draws_.UpTo(draws_.OneOf({0, 10, 300}));
  if (draws_.Chance(0.1))
    return Answer()
        .Head(at)
        .Message(at * 2, "po")
        .Message(at * 2, "ng")
        .Trailers(at * 3, StatusCode::kOk);
  return Answer().Head(at).Message(at * 2, "pong").Trailers(at * 3, StatusCode::kOk);
}

Answer RandomWorld::RandomAnswer() {
  if (draws_.Chance(is_out_ ? 0.95 : failing_)) return Failure();
  return draws_.Chance(0.05) ? Silence() : Good();
}

void RandomWorld::AddTwin() {
  if (side_ == Side::kInbound) return;
  is_twin_ = true;
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
  EXPECT_EQ(leases_.waiting(), 0U);
  for (const SimHost& call : sidecar_.calls()) {
    const SimCaller& caller = call.caller();
    if (caller.code == StatusCode::kOk) {
      EXPECT_EQ(caller.body, "pong");
    }
    if (is_twin_) {
      EXPECT_EQ(call.record().shadow.value_or(ShadowOutcome::kSame), ShadowOutcome::kSame);
    }
    const absl::Duration took = call.record().end - call.record().start;
    EXPECT_LE(took, sidecar_.policy.dedupe.has_value() ? kDrained : kPatience);
  }
}

void RandomWorld::Arrive() {
  if (calls_left_-- <= 0) return;
  Caller& caller = callers_.emplace_back();
  Describe(caller);
  Begin(caller);
  CheckBudget(sidecar_);
  clock_.After(absl::Seconds(2 * random_.Uniform() / calls_per_second_), [this] { Arrive(); });
  // Outages come and go in some worlds.
  if (has_outages_ && draws_.Chance(0.1)) is_out_ = !is_out_;
  if (draws_.Chance(0.1)) {
    const auto endpoints = static_cast<uint64_t>(sidecar_.endpoints().size());
    sidecar_.endpoints().SetReachable(static_cast<int64_t>(random_.Below(endpoints)),
                                      draws_.Chance(0.5));
  }
}

void RandomWorld::Describe(Caller& caller) {
  if (draws_.Chance(0.4)) {
    caller.facts.timeout = draws_.OneOf({Ms(0), Ms(1), draws_.UpTo(100), draws_.UpTo(2000)});
  }
  if (draws_.Chance(0.2)) caller.facts.previous_attempts = draws_.OneOf({1, 2, 999'000});
  caller.facts.in_vain = draws_.Chance(0.01);
  for (const RateLimitPolicy& limit : sidecar_.policy.rate_limits) {
    LimitKey& key = caller.rate_keys.emplace_back();
    for (const RateLimitKey& part : limit.key) {
      key.Add(part.entry(), draws_.OneOf({"one", "two", "three"}));
    }
  }
  caller.facts.priority = static_cast<int>(random_.Below(128));
  caller.facts.user = random_.Below(3);
  caller.facts.method = draws_.OneOf({"/shop.Cart/Add", "/shop.Cart/Pay"});
  if (const auto& dedupe = sidecar_.policy.dedupe; dedupe.has_value() && draws_.Chance(0.9)) {
    const uint64_t keys = draws_.Chance(repeating_) ? 3 : 1'000'000;
    caller.dedupe_key = absl::StrCat("key ", random_.Below(keys));
  } else if (dedupe.has_value() && dedupe->required) {
    caller.facts.dedupe_fault = "no key";
  }
  caller.origin.method = static_cast<int>(draws_.OneOf<uint64_t>({0, 1, random_.Below(65)}));
  if (draws_.Chance(0.5)) caller.origin.trace = 1 + random_.Below(5);
  if (draws_.Chance(0.5)) caller.request = Framed(draws_.OneOf({"ping", "ping", "other"}));
  if (draws_.Chance(0.2)) caller.retries_left = draws_.OneOf({1, 5});
}

void RandomWorld::Begin(Caller& caller) {
  ++calls_;
  caller.facts.rate_keys = caller.rate_keys;
  caller.facts.dedupe_key = caller.dedupe_key;
  SimHost& call = sidecar_.NewCall(
      caller.facts, [this, &caller](const SimCaller& answer) { RetryLater(caller, answer.code); },
      caller.origin);
  facts_[&call] = caller.facts;
  Speak(call, caller);
}

// The application makes the same call again.
void RandomWorld::RetryLater(const Caller& caller, StatusCode code) {
  if (code == StatusCode::kOk || caller.retries_left == 0) return;
  Caller& again = callers_.emplace_back(caller);
  --again.retries_left;
  if (draws_.Chance(0.3)) ++again.facts.previous_attempts;
  clock_.After(draws_.UpTo(draws_.OneOf({0, 20, 1000})), [this, &again] { Begin(again); });
}

// The caller sends up to five messages, half-closes perhaps, and loses patience at some time.
void RandomWorld::Speak(SimHost& call, const Caller& caller) {
  if (!caller.request.empty()) {
    call.Send(caller.request, /*end=*/true);
  } else {
    absl::Duration at;
    const auto pieces = static_cast<int>(random_.Below(6));
    for (int i = 0; i < pieces; ++i) {
      at += draws_.UpTo(draws_.OneOf({0, 5, 200}));
      clock_.After(at, [this, &call, i] { SendPiece(call, i); });
    }
    if (draws_.Chance(0.9)) clock_.After(at + draws_.UpTo(100), [&call] { call.HalfClose(); });
  }
  if (draws_.Chance(0.01)) clock_.After(draws_.UpTo(300), [&call] { call.DrainTimeout(); });
  clock_.After(draws_.Chance(0.2) ? draws_.UpTo(300) : kPatience, [&call] { call.Leave(); });
  clock_.After(kDrained, [&call] { call.DrainTimeout(); });
}

void RandomWorld::SendPiece(SimHost& call, int number) {
  call.Send(Framed(absl::StrCat("message ", number)));
}

}  // namespace levee
