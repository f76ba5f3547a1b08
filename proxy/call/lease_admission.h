// SPDX-License-Identifier: Apache-2.0
// Admits calls by limits whose permits are leased from a store.
#pragma once

#include <cstddef>
#include <list>
#include <optional>

#include "absl/container/flat_hash_map.h"
#include "absl/time/time.h"
#include "base/timer_wheel.h"
#include "call/admission.h"

namespace levee {

// Nearly every call finds a permit, or learns that there is none, at once. The others wait for the
// answer of the store, the longest waiting first, but no longer than the store's timeout. One per
// worker and one thread.
class LeaseAdmission final : public AdmissionSource, private Timer {
 public:
  // `wheel`: outlives it.
  explicit LeaseAdmission(TimerWheel& wheel) : wheel_(wheel) {}
  LeaseAdmission(const LeaseAdmission&) = delete;
  LeaseAdmission& operator=(const LeaseAdmission&) = delete;

  // A store has answered, or has not in time: the calls that wait ask again.
  void OnAnswered(Instant now);

  size_t waiting() const { return places_.size(); }

  // AdmissionSource. A permit that is withdrawn is lost to its bucket.
  std::optional<RateAdmission> Ask(Call& call, const AdmissionQuestion& question,
                                   Instant now) override;
  void Withdraw(Call& call) override;

 private:
  struct Waiting {
    Call* call;
    AdmissionQuestion question;
    Instant until;
  };
  using Line = std::list<Waiting>;

  void OnTimer(Instant now) override;
  RateAdmission Decide(const AdmissionQuestion& question, Instant now);
  void Remove(Line::iterator place);
  void Wait(const Waiting& waiting);

  TimerWheel& wheel_;
  Line line_;
  absl::flat_hash_map<Call*, Line::iterator> places_;
};

}  // namespace levee
