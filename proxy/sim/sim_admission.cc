// SPDX-License-Identifier: Apache-2.0
#include "sim/sim_admission.h"

#include <utility>

#include "base/check.h"
#include "call/call.h"

namespace levee {

SimAdmission::SimAdmission(SimClock& clock, std::function<absl::Duration()> delay)
    : clock_(clock), delay_(std::move(delay)) {}

std::optional<RateAdmission> SimAdmission::Ask(Call& call, const AdmissionQuestion& question,
                                               Instant now) {
  const absl::Duration delay = delay_();
  if (delay <= absl::ZeroDuration()) return Decide(question);
  const int64_t number = ++asked_;
  const bool first = questions_.try_emplace(&call, Question{question, number}).second;
  LEVEE_CHECK(first);  // A call asks once.
  clock_.At(now + delay, [this, &call, number] { Answer(call, number); });
  return std::nullopt;
}

void SimAdmission::Answer(Call& call, int64_t number) {
  const auto found = questions_.find(&call);
  if (found == questions_.end() || found->second.number != number) return;
  const Question question = found->second;
  questions_.erase(found);
  call.OnAdmission(Decide(question), clock_.now());
}

RateAdmission SimAdmission::Decide(const AdmissionQuestion& question) {
  const Instant now = clock_.now();
  const RateAdmission answer =
      AdmitCall(question.limits, question.keys, now, question.deadline - now);
  if (answer.refused_by == RateAdmission::kNone) ++charged_;
  return answer;
}

void SimAdmission::Withdraw(Call& call) {
  if (questions_.erase(&call) > 0) return;
  --charged_;
  LEVEE_CHECK(charged_ >= 0);
}

}  // namespace levee
