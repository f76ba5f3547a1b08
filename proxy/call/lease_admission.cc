// SPDX-License-Identifier: Apache-2.0
#include "call/lease_admission.h"

#include <algorithm>

#include "base/check.h"
#include "call/call.h"

namespace levee {
namespace {

// The answer to a request comes at its timeout at the latest, or says that there is none. It has to
// come back to the worker, and should decide about the calls that wait for it.
constexpr absl::Duration kWayBack = absl::Milliseconds(10);

absl::Duration LongestWait(const AdmissionQuestion& question) {
  absl::Duration longest;
  for (const RateLimiter* limit : question.limits) {
    const auto& shared = limit->policy().shared;
    if (shared.has_value()) longest = std::max(longest, shared->timeout + kWayBack);
  }
  return longest;
}

RateAdmission WithoutStore(const AdmissionQuestion& question, RateAdmission answer) {
  const RateLimiter& limit = *question.limits[static_cast<size_t>(answer.refused_by)];
  if (limit.policy().shared->away == StoreAway::kAllow) return {};
  answer.awaits_lease = false;
  return answer;
}

}  // namespace

std::optional<RateAdmission> LeaseAdmission::Ask(Call& call, const AdmissionQuestion& question,
                                                 Instant now) {
  const RateAdmission answer = Decide(question, now);
  if (!answer.awaits_lease) return answer;
  Wait({.call = &call, .question = question, .until = now + LongestWait(question)});
  return std::nullopt;
}

RateAdmission LeaseAdmission::Decide(const AdmissionQuestion& question, Instant now) {
  return AdmitCall(question.limits, question.keys, now, question.deadline - now);
}

void LeaseAdmission::Wait(const Waiting& waiting) {
  line_.push_back(waiting);
  const bool first = places_.try_emplace(waiting.call, std::prev(line_.end())).second;
  LEVEE_CHECK(first);  // A call asks once.
  if (waiting.until < when()) wheel_.Arm(*this, waiting.until);
}

void LeaseAdmission::Remove(Line::iterator place) {
  places_.erase(place->call);
  line_.erase(place);
}

void LeaseAdmission::Withdraw(Call& call) {
  const auto found = places_.find(&call);
  if (found != places_.end()) Remove(found->second);
}

void LeaseAdmission::OnAnswered(Instant now) {
  for (size_t left = line_.size(); left > 0 && !line_.empty(); --left) {
    const Waiting first = line_.front();
    Remove(line_.begin());
    const RateAdmission answer = Decide(first.question, now);
    if (answer.awaits_lease) {
      Wait(first);
    } else {
      first.call->OnAdmission(answer, now);
    }
  }
}

// The calls that have waited for too long are refused, or are admitted where that is what the limit
// says of a store that does not answer.
void LeaseAdmission::OnTimer(Instant now) {
  for (size_t left = line_.size(); left > 0 && !line_.empty(); --left) {
    const Waiting first = line_.front();
    Remove(line_.begin());
    if (now < first.until) {
      Wait(first);
      continue;
    }
    RateAdmission answer = Decide(first.question, now);
    if (answer.awaits_lease) answer = WithoutStore(first.question, answer);
    first.call->OnAdmission(answer, now);
  }
}

}  // namespace levee
