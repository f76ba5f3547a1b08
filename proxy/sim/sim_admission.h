// SPDX-License-Identifier: Apache-2.0
// Admission that takes virtual time, as that of a limit which several sidecars share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>

#include "absl/container/flat_hash_map.h"
#include "absl/time/time.h"
#include "call/admission.h"
#include "sim/sim_clock.h"

namespace levee {

// Asks the limits of the call's policy, but only when a delay has passed. The clock's events refer
// to it.
class SimAdmission final : public AdmissionSource {
 public:
  // `delay`: of the answer to the question that is being asked. Zero: the answer comes at once;
  // Infinite: it never comes.
  SimAdmission(SimClock& clock, std::function<absl::Duration()> delay);
  SimAdmission(const SimAdmission&) = delete;
  SimAdmission& operator=(const SimAdmission&) = delete;

  // Calls that wait for their answer.
  size_t waiting() const { return questions_.size(); }
  // Calls that were admitted and did not withdraw afterwards.
  int64_t charged() const { return charged_; }

  // AdmissionSource. A permit that is withdrawn leaves charged(), but is lost to its bucket.
  std::optional<RateAdmission> Ask(Call& call, const AdmissionQuestion& question,
                                   Instant now) override;
  void Withdraw(Call& call) override;

 private:
  struct Question : AdmissionQuestion {
    int64_t number;  // the next call may have the address of one that has ended
  };

  void Answer(Call& call, int64_t number);
  RateAdmission Decide(const AdmissionQuestion& question);

  SimClock& clock_;
  const std::function<absl::Duration()> delay_;
  absl::flat_hash_map<Call*, Question> questions_;
  int64_t asked_ = 0;
  int64_t charged_ = 0;
};

}  // namespace levee
