// One sidecar with a random policy, random upstreams and random callers, and what must hold of it.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <map>

#include "base/random.h"
#include "call/call_fixture.h"

namespace levee {

// Everything is drawn from the seed. Failed checks are failures of the current test.
class RandomWorld {
 public:
  explicit RandomWorld(uint64_t seed);

  // Makes all calls, checks what holds at any time as each one comes, and in the end what holds of
  // each call.
  void Run();

 private:
  template <typename T>
  T OneOf(std::initializer_list<T> values) {
    return values.begin()[random_.Below(values.size())];
  }
  bool Chance(double share) { return random_.Uniform() < share; }
  absl::Duration UpTo(int64_t ms) { return absl::Microseconds(random_.Below(ms * 1000 + 1)); }

  CallPolicy Policy();
  RetryPolicy Retry();
  RetryRule Rule();
  HedgePolicy Hedge();
  RateLimitPolicy RateLimit();
  BackoffPolicy RandomBackoff();
  Answer RandomAnswer();
  Answer Failure();
  RequestFacts Facts();
  void Arrive();
  void Speak(SimHost& call);
  void CheckBudget();
  void CheckCall(const SimHost& call, const RequestFacts& facts);
  void CheckAttempt(const SimHost& call, AttemptId id, const RequestFacts& facts);

  Random random_;
  SimClock clock_;
  SimSidecar sidecar_;
  const double calls_per_second_;
  const double failing_;
  int calls_left_ = 200;
  std::map<const SimHost*, RequestFacts> facts_;
};

}  // namespace levee
