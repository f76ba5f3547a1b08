// SPDX-License-Identifier: Apache-2.0
// The retry state machine: any policy, and events of callers, upstreams and the clock in any order
// in which a host may tell them. SimHost holds the calls to their side of the boundary, and
// call/call_invariants.h to what was promised to users.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "call/call_invariants.h"
#include "call/random_policy.h"
#include "fuzz/byte_source.h"
#include "gtest/gtest.h"

namespace levee {
namespace {

constexpr size_t kMaxCalls = 40;
constexpr size_t kMaxEvents = 2000;

class RetryRun {
 public:
  explicit RetryRun(ByteSource& source)
      : source_(source), sidecar_(clock_, RandomPolicy(draws_), source.Byte()) {
    sidecar_.KeepCalls();
    sidecar_.replay_bytes = draws_.OneOf<int64_t>({0, 40, 1 << 20});
    const uint8_t honor = source_.Byte();
    sidecar_.overload.honor = {.levee = (honor & 1) != 0,
                               .error_info = (honor & 2) != 0,
                               .pushback = (honor & 4) != 0,
                               .envoy = (honor & 8) != 0};
    if ((honor & 16) != 0) sidecar_.admission = &admission_;
    endpoints_ = 1 + source_.Below(3);
    for (uint64_t i = 0; i < endpoints_; ++i) {
      sidecar_.AddEndpoint([this](SimHost&, AttemptId) {
        return source_.Flag() ? Silence() : Answer().ReadOnly(source_.Byte());
      });
    }
  }

  void Run() {
    for (size_t i = 0; i < kMaxEvents && !source_.empty(); ++i) {
      Event();
      CheckBudget(sidecar_);
    }
    for (SimHost* const call : calls_) call->Leave();
    clock_.Run();
    CheckEnded(sidecar_, facts_);
    CheckAdmission(sidecar_, admission_);
  }

 private:
  void Event() {
    const uint64_t kind = source_.Below(16);
    if (kind == 0 || calls_.empty()) {
      NewCall();
    } else if (kind <= 3) {
      clock_.RunFor(draws_.UpTo(draws_.OneOf({1, 50, 2000, 20'000})));
    } else if (kind == 4) {
      sidecar_.endpoints().SetReachable(static_cast<int64_t>(source_.Below(endpoints_)),
                                        source_.Flag());
    } else if (kind <= 8) {
      OfCaller(*calls_[source_.Below(calls_.size())]);
    } else {
      OfUpstream(*calls_[source_.Below(calls_.size())]);
    }
  }

  void NewCall() {
    if (calls_.size() >= kMaxCalls) return;
    RequestFacts facts;
    facts.timeout =
        draws_.OneOf({absl::InfiniteDuration(), absl::ZeroDuration(), draws_.UpTo(2000)});
    facts.previous_attempts = draws_.OneOf({0, 0, 1, 1'000'000});
    SimHost& call = sidecar_.NewCall(facts);
    facts_[&call] = facts;
    calls_.push_back(&call);
  }

  void OfCaller(SimHost& call) {
    const uint64_t kind = source_.Below(8);
    if (kind == 0) {
      call.Leave();
    } else if (kind == 1) {
      call.DrainTimeout();
    } else if (kind == 2) {
      // Timers are re-armed lazily, so one may come early.
      if (!call.finished()) call.call().OnTimer(clock_.now());
    } else if (!half_closed_.contains(&call)) {
      const bool end = kind <= 4;
      call.Send(source_.Take(source_.Below(32)), end);
      if (end) half_closed_.insert(&call);
    }
  }

  void OfUpstream(SimHost& call) {
    if (call.attempts() == 0) return;
    // Mostly the newest attempt.
    const auto back = static_cast<AttemptId>(source_.Below(8) % 3);
    const AttemptId id = std::max(1, call.attempts() - back);
    const bool over = call.attempt(id).ended_at || call.attempt(id).cancelled_at;
    const std::pair<const SimHost*, AttemptId> attempt(&call, id);
    const bool head = heads_.contains(attempt);
    switch (source_.Below(6)) {
      case 0:
        return Deliver(call, id, Answer().Informational(Now()));
      case 1:
        if (head) return;
        if (!over) heads_.insert(attempt);
        return Deliver(call, id, Answer().Head(Now()));
      case 2:
        if (head) Deliver(call, id, Answer().Message(Now(), source_.Take(source_.Below(8))));
        return;
      case 3:
        return Deliver(call, id, Answer().ReadOn(Now(), source_.Byte()));
      case 4:
        return Deliver(call, id, Failure(head));
      default:
        return Deliver(call, id, Begun(head).Trailers(Now(), StatusCode::kOk));
    }
  }

  // An answer whose head has been delivered already, or not.
  static Answer Begun(bool head) { return head ? Answer().Head(Now()) : Answer(); }

  // Any way in which an attempt can fail; less of them once its head has come.
  Answer Failure(bool head) {
    const std::string pushback = draws_.OneOf({"0", "30", "-1", "none", "99999999"});
    const StatusCode code =
        draws_.OneOf({StatusCode::kUnavailable, StatusCode::kInternal, StatusCode::kUnknown,
                      StatusCode::kResourceExhausted, StatusCode::kDeadlineExceeded});
    switch (source_.Below(head ? 6 : 9)) {
      case 0:
        return Begun(head).Trailers(Now(), code, source_.Take(source_.Below(8)));
      case 1:
        return Begun(head).Trailers(Now(), code, "busy", {{"grpc-retry-pushback-ms", pushback}});
      case 2:
        return Answer().ConnectionLost(Now());
      case 3:
        return Answer().Reset(Now(), static_cast<uint32_t>(source_.Below(16)));
      case 4:
        return Answer().GoAwayExcluding(Now());
      case 5:
        return head ? Begun(head).EndWithoutStatus(Now()) : Answer().Unsent(Now());
      case 6:
        return Answer().CannotConnect(Now());
      case 7:
        return Answer().Http(Now(), draws_.OneOf({100, 200, 404, 408, 429, 500, 503, 999}));
      default:
        return Answer().Trailers(
            Now(), code, "full",
            {{"levee-overload", draws_.OneOf({"service", "endpoint;hops=2", "?", ""})}});
    }
  }

  static void Deliver(SimHost& call, AttemptId id, const Answer& answer) {
    call.Deliver(id, answer.steps().back());
  }
  static absl::Duration Now() { return absl::ZeroDuration(); }

  ByteSource& source_;
  const Draws draws_{[this](uint64_t bound) { return source_.Below(bound); },
                     [this] { return source_.Byte() / 256.0; }};
  SimClock clock_;
  SimAdmission admission_{clock_, [this] { return RandomDelay(draws_); }};
  SimSidecar sidecar_;
  uint64_t endpoints_ = 1;
  FactsOfCalls facts_;
  std::vector<SimHost*> calls_;
  std::set<const SimHost*> half_closed_;
  std::set<std::pair<const SimHost*, AttemptId>> heads_;
};

}  // namespace
}  // namespace levee

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  GTEST_FLAG_SET(throw_on_failure, true);
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  levee::ByteSource source({data, size});
  levee::RetryRun(source).Run();
  return 0;
}
