// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>

#include "absl/strings/str_cat.h"
#include "insight/recent_calls.h"
#include "sim/observed.h"
#include "sim/sim_clock.h"
#include "sim/sim_sidecar.h"
#include "sim/twin_case.h"
#include "sim/twin_time.h"

namespace levee {
namespace {

class SimulatedRun {
 public:
  explicit SimulatedRun(const TwinCase& twin) : twin_(twin), sidecar_(clock_, twin.policy) {
    clock_.RunFor(kToWholeMillisecond);
    begin_ = clock_.now();
    sidecar_.KeepCalls();
    sidecar_.overload = twin.overload;
    sidecar_.connect_failure = kNotReachable;
    sidecar_.connect_wait = twin.connect_wait;
    for (int i = 0; i < twin.endpoints; ++i) {
      const int64_t endpoint = sidecar_.AddEndpoint(
          [this](SimHost& host, AttemptId id) { return AnswerOf(host, id); }, NameOfEndpoint(i));
      sidecar_.endpoints().SetReachable(endpoint, twin.reachable);
    }
    for (size_t n = 0; n < twin.calls.size(); ++n) {
      clock_.After(twin.calls[n].at, [this, n] { Start(n); });
    }
  }

  Observed Run() {
    clock_.Run();
    Observed observed;
    for (size_t n = 0; n < twin_.calls.size(); ++n) Describe(*hosts_.at(n), n, observed);
    return observed;
  }

 private:
  Answer AnswerOf(SimHost& host, AttemptId id) {
    const size_t n = numbers_.try_emplace(&host, starting_).first->second;
    const std::vector<Answer>& answers = twin_.calls[n].answers;
    return answers[std::min(static_cast<size_t>(id), answers.size()) - 1];
  }

  void Start(size_t n) {
    const TwinCall& call = twin_.calls[n];
    starting_ = n;
    SimHost& host =
        sidecar_.NewCall({.timeout = call.timeout, .previous_attempts = call.previous_attempts},
                         /*on_finish=*/nullptr, {.connection = 1});
    numbers_[&host] = n;
    hosts_[n] = &host;
    const bool ends = call.end_at == absl::ZeroDuration();
    if (ends || !call.body.empty()) host.Send(call.body, ends);
    if (!ends && call.end_at) clock_.After(*call.end_at, [&host] { host.HalfClose(); });
    if (call.leave_at) clock_.After(*call.leave_at, [&host] { host.Leave(); });
  }

  void Describe(const SimHost& host, size_t n, Observed& observed) {
    absl::StrAppend(&observed.text, "call ", n, "\n");
    std::vector<Observed::Attempt>& attempts = observed.attempts.emplace_back();
    const absl::Duration base = begin_ - SimClock::Start();
    for (AttemptId id = 1; id <= host.attempts(); ++id) {
      const SimAttempt& attempt = host.attempt(id);
      if (attempt.endpoint < 0) continue;  // No upstream has seen it.
      SeenAttempt seen = {.endpoint = static_cast<int>(attempt.endpoint),
                          .at = attempt.start - base,
                          .previous_attempts = attempt.previous_attempts,
                          .timeout = attempt.timeout,
                          .received = attempt.received,
                          .half_closed = attempt.half_closed};
      if (attempt.cancelled_at) seen.cancelled_at = *attempt.cancelled_at - base;
      observed.text += Text(seen);
      attempts.push_back({.endpoint = seen.endpoint, .cancelled = seen.cancelled_at.has_value()});
    }
    const SimCaller& caller = host.caller();
    const bool left = twin_.calls[n].leave_at &&
                      *caller.finished_at - base >= twin_.calls[n].at + *twin_.calls[n].leave_at;
    observed.text += left ? "  the caller left\n"
                          : TextOfAnswer(caller.head_at.has_value(), caller.body, caller.trailers,
                                         *caller.finished_at - base);
    if (RecentCalls::Wants(host.record())) observed.text += Text(host.record());
  }

  const TwinCase& twin_;
  SimClock clock_;
  SimSidecar sidecar_;
  Instant begin_;
  size_t starting_ = 0;
  std::map<const SimHost*, size_t> numbers_;
  std::map<size_t, SimHost*> hosts_;
};

}  // namespace

Observed RunSimulated(const TwinCase& twin) { return SimulatedRun(twin).Run(); }

}  // namespace levee
