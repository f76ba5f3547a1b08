// SPDX-License-Identifier: Apache-2.0
#include "call/random_leases.h"

namespace levee {

void RandomLeases::Ask(Bucket bucket, const LeaseRequest& request) {
  const bool lost = draws_.Chance(0.2);
  clock_.After(draws_.UpTo(draws_.OneOf({1, 20, 300})), [this, bucket, request, lost] {
    const auto limit = bucket.limiter.lock();
    const Instant now = clock_.now();
    LeaseGrant grant;
    grant.granted = static_cast<int64_t>(draws_.below(static_cast<uint64_t>(request.want) + 1));
    if (grant.granted < request.want) grant.wait = draws_.UpTo(500);
    const bool waited_for = lost ? limit->OnLost(bucket, now) : limit->OnGrant(bucket, grant, now);
    if (waited_for) admission_.OnAnswered(now);
  });
}

std::optional<RateAdmission> RandomLeases::Ask(Call& call, const AdmissionQuestion& question,
                                               Instant now) {
  // No call waits while it does not tick, so that none is told of anything in this call's event.
  if (!ticking_) wheel_.Advance(now);
  const std::optional<RateAdmission> answer = admission_.Ask(call, question, now);
  if (!answer.has_value() && !ticking_) Tick();
  return answer;
}

void RandomLeases::Tick() {
  ticking_ = admission_.waiting() > 0;
  if (!ticking_) return;
  clock_.After(absl::Milliseconds(5), [this] {
    wheel_.Advance(clock_.now());
    Tick();
  });
}

}  // namespace levee
