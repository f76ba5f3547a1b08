// Rate limits: GCRA, exact across workers.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "absl/time/time.h"
#include "base/instant.h"
#include "policy/rate_limit_policy.h"

namespace levee {

// One configured limit with all its buckets, shared by all workers. Any thread.
//
// Each bucket is the generic cell rate algorithm (GCRA, ITU-T I.371, annex A, as a virtual
// scheduling algorithm): one number, the theoretical arrival time, moves one emission interval
// (1 / rate) ahead per permit and may be at most `burst` intervals ahead of now. Hence in any span
// at most burst + rate x span permits become due, however many workers take them.
class RateLimiter {
 public:
  explicit RateLimiter(const RateLimitPolicy& policy);
  ~RateLimiter();
  RateLimiter(const RateLimiter&) = delete;
  RateLimiter& operator=(const RateLimiter&) = delete;

  struct Permit {
    bool granted = false;
    // Granted: how long to wait before it may be used (zero: at once). Refused: until the next
    // permit would have been due without any wait allowed.
    absl::Duration wait = absl::ZeroDuration();
  };

  // Takes a permit out of the bucket of `key` (empty for a limit without key) if it is due within
  // `max_wait`; a refusal changes nothing. Permits of one bucket become due in the order in which
  // they were taken.
  Permit Take(std::string_view key, Instant now, absl::Duration max_wait);

  // Gives back a permit that was taken a moment ago and not used, because another limit refused the
  // call.
  void Return(std::string_view key);

  // An attempt of a call that this limit admitted, started at `attempt_start`, was answered with
  // RESOURCE_EXHAUSTED. Lowers an adaptive limit's rate, once for all attempts that were under way.
  void OnOverloaded(std::string_view key, Instant attempt_start, Instant now);

  const RateLimitPolicy& policy() const { return policy_; }

 private:
  class Buckets;

  const RateLimitPolicy policy_;
  const std::unique_ptr<Buckets> buckets_;
};

// What all limits of a policy say about one call.
struct RateAdmission {
  static constexpr int kNone = -1;

  int refused_by = kNone;  // index of the limit that refuses it, kNone: admitted
  // Admitted: how long to wait first, and the index of the limit that makes it wait longest (kNone:
  // no wait). Refused: until that limit's next permit.
  absl::Duration wait = absl::ZeroDuration();
  int delayed_by = kNone;
};

// Takes a permit of each limit, or of none. `keys`: one per limit. No permit is taken that becomes
// due `time_left` from now or later: the call's deadline would have passed.
RateAdmission AdmitCall(std::span<RateLimiter* const> limits, std::span<const std::string> keys,
                        Instant now, absl::Duration time_left);

}  // namespace levee
