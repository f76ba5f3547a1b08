// SPDX-License-Identifier: Apache-2.0
#include "sim/services.h"

#include <algorithm>
#include <functional>
#include <memory>
#include <utility>

#include "base/random.h"
#include "guard/unreported_calls.h"

namespace levee {
namespace {

Answer::Step EndOf(const SimCaller& inner, bool passes_trailers) {
  Answer answer = Answer().Trailers(absl::ZeroDuration(), inner.code, inner.message);
  Answer::Step step = answer.steps().front();
  if (!passes_trailers) return step;
  step.fields.resize(2);  // :status and content-type
  for (size_t i = 0; i < inner.trailers.size(); ++i) {
    const Metadata::Field field = inner.trailers[i];
    step.fields.emplace_back(field.name, field.value);
  }
  return step;
}

// Returns what gives the end of a call to the attempt `id` of `host`, for which it is made.
SimHost::OnFinish AnswerTo(SimHost& host, AttemptId id, bool passes_trailers, SimClock& clock) {
  return [outer = SimHost::Ref(host), id, passes_trailers, &clock](const SimCaller& caller) {
    clock.After(absl::ZeroDuration(), [outer, id, end = EndOf(caller, passes_trailers)] {
      if (SimHost* const waiting = outer.get()) waiting->Deliver(id, end);
    });
  };
}

// When the slots of a service are free again.
class Slots {
 public:
  Slots(const Capacity& capacity, uint64_t seed)
      : capacity_(capacity),
        random_(seed),
        free_at_(static_cast<size_t>(capacity.slots), absl::ZeroDuration()) {}

  // Returns when the work is done that came at `now`.
  absl::Duration Serve(absl::Duration now) {
    std::pop_heap(free_at_.begin(), free_at_.end(), std::greater<>());
    absl::Duration& slot = free_at_.back();
    slot = DoneAt(std::max(now, slot), capacity_.work * (0.5 + random_.Uniform()));
    const absl::Duration done = slot;
    std::push_heap(free_at_.begin(), free_at_.end(), std::greater<>());
    return done;
  }

 private:
  absl::Duration DoneAt(absl::Duration start, absl::Duration work) const {
    const absl::Duration cut_end = capacity_.cut_at + capacity_.cut_for;
    if (start >= cut_end) return start + work;
    const absl::Duration before = std::max(absl::ZeroDuration(), capacity_.cut_at - start);
    if (work <= before) return start + work;
    const absl::Duration cut_start = std::max(start, capacity_.cut_at);
    const absl::Duration rest = work - before;
    const absl::Duration within = (cut_end - cut_start) * capacity_.left;
    if (rest <= within) return cut_start + rest / capacity_.left;
    return cut_end + (rest - within);
  }

  const Capacity capacity_;
  Random random_;
  std::vector<absl::Duration> free_at_;  // a heap, the earliest first
};

}  // namespace

Service InTurn(std::vector<Answer> answers) {
  auto next = std::make_shared<size_t>(0);
  return [next, answers = std::move(answers)](SimHost&, AttemptId) {
    const size_t i = std::min((*next)++, answers.size() - 1);
    return answers.at(i);
  };
}

Service Flaky(double failing, uint64_t seed) {
  auto random = std::make_shared<Random>(seed);
  const Answer fails = TrailersOnly(StatusCode::kUnavailable);
  return [random, failing, fails, ok = Ok()](SimHost&, AttemptId) {
    return random->Uniform() < failing ? fails : ok;
  };
}

Service InSlots(SimClock& clock, const Capacity& capacity, uint64_t seed) {
  auto slots = std::make_shared<Slots>(capacity, seed);
  const Answer ok = Answer().Trailers(absl::ZeroDuration(), StatusCode::kOk);
  return [slots, &clock, ok](SimHost&, AttemptId) {
    return ok.After(slots->Serve(clock.elapsed()) - clock.elapsed());
  };
}

Service Through(SimSidecar& next, Handler handler) {
  return [&next, handler](SimHost& host, AttemptId id) {
    const auto inner = AppRequest::Begin(next, handler.loop, host.attempt(id).timeout,
                                         {.trace = host.origin().trace}, /*message=*/"",
                                         AnswerTo(host, id, handler.passes_trailers, next.clock()));
    host.OnCancel(id, [inner] { inner->Cancel(); });
    return Silence();
  };
}

Service Behind(SimSidecar& inbound, SimSidecar& caller, int method) {
  auto report_from = std::make_shared<Instant>();
  auto unreported = std::make_shared<UnreportedCalls>();
  const uint64_t connection = inbound.NewConnection();
  return [&inbound, &caller, connection, report_from, unreported, method](SimHost& host,
                                                                          AttemptId id) {
    constexpr absl::Duration kEvery = absl::Seconds(1);
    const Instant now = inbound.clock().now();
    GuardLine* const guard = inbound.guard();
    if (guard != nullptr) unreported->Add(&guard->guard(), now);
    if (guard != nullptr && now >= *report_from) {
      *report_from = now + kEvery;
      guard->Report(caller.retries().Report(now), unreported->Take(), now);
    }
    const SimAttempt& attempt = host.attempt(id);
    RequestFacts facts{.timeout = attempt.timeout, .previous_attempts = attempt.previous_attempts};
    if (guard != nullptr) facts.priority = guard->guard().policy().default_priority;
    SimHost& inner =
        inbound.NewCall(facts, AnswerTo(host, id, /*passes_trailers=*/true, inbound.clock()),
                        {.trace = host.origin().trace, .connection = connection, .method = method});
    inner.HalfClose();
    host.OnCancel(id, [inner = SimHost::Ref(inner)] {
      if (SimHost* const running = inner.get()) running->Leave();
    });
    return Silence();
  };
}

}  // namespace levee
