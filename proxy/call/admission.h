// SPDX-License-Identifier: Apache-2.0
// Who admits calls where the answer may come later than the question.
#pragma once

#include <optional>
#include <span>

#include "base/instant.h"
#include "policy/limit_key.h"
#include "policy/rate_limiter.h"

namespace levee {

class Call;

// May this call begin? The spans are valid until the call has its answer or withdraws.
struct AdmissionQuestion {
  std::span<RateLimiter* const> limits;  // of the call's policy, in its order
  std::span<const LimitKey> keys;        // one per limit
  Instant deadline;                      // of the call; no permit may become due then or later
};

// Admits calls in the place of AdmitCall, where the limits of this process cannot decide alone. An
// interface because implementations need the network, and so lie above call/. It outlives the calls
// that ask it, and runs on their thread.
class AdmissionSource {
 public:
  // Returns the answer, if it is known already, and does not call back into the call. Otherwise it
  // tells the answer to Call::OnAdmission in a later turn, unless the call withdraws before. It
  // does so in bounded time: the call itself waits until its deadline, and it may have none.
  virtual std::optional<RateAdmission> Ask(Call& call, const AdmissionQuestion& question,
                                           Instant now) = 0;

  // The call ends without a first attempt, before its answer or after it was admitted. No answer
  // may follow, and nothing is charged: a permit that was taken for it goes back. Does not call
  // back into the call, which may be destroyed afterwards.
  virtual void Withdraw(Call& call) = 0;

 protected:
  ~AdmissionSource() = default;
};

}  // namespace levee
