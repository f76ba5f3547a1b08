// SPDX-License-Identifier: Apache-2.0
// A store of shared rate limits on virtual time, which answers late, with any number of permits, or
// not at all.
#pragma once

#include <cstddef>
#include <optional>

#include "base/timer_wheel.h"
#include "call/lease_admission.h"
#include "call/random_policy.h"
#include "policy/rate_limiter.h"
#include "sim/sim_clock.h"

namespace levee {

// The store and the production's admission, whose timers the clock runs while calls wait in it. The
// clock's events refer to it.
class RandomLeases final : public LeaseSource, public AdmissionSource {
 public:
  RandomLeases(SimClock& clock, const Draws& draws) : clock_(clock), draws_(draws) {}
  RandomLeases(const RandomLeases&) = delete;
  RandomLeases& operator=(const RandomLeases&) = delete;

  size_t waiting() const { return admission_.waiting(); }

  // LeaseSource.
  void Ask(Bucket bucket, const LeaseRequest& request) override;

  // AdmissionSource.
  std::optional<RateAdmission> Ask(Call& call, const AdmissionQuestion& question,
                                   Instant now) override;
  void Withdraw(Call& call) override { admission_.Withdraw(call); }

 private:
  void Tick();

  SimClock& clock_;
  const Draws& draws_;
  TimerWheel wheel_{SimClock::Start()};
  LeaseAdmission admission_{wheel_};
  bool ticking_ = false;
};

}  // namespace levee
