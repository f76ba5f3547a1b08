// SPDX-License-Identifier: Apache-2.0
// The number of calls at which a service's throughput no longer grows and its latency begins to.
#pragma once

#include <optional>
#include <vector>

#include "guard/limit_rule.h"
#include "policy/guard_policy.h"

namespace levee {

// By Little's law a service that works on N calls, and takes `inflation` times as long for them as
// when it is unloaded, has N x (1 - 1 / inflation) of them waiting inside. The limit rises while
// calls find no slot and hardly any wait inside. While calls are refused it falls until few wait
// inside: the rule of TCP Vegas (Brakmo and Peterson, 1995), with a gradient where the limit is far
// off. While none are refused nobody gains by a lower limit, and as many may wait as are worked on.
//
// "When it is unloaded" is a mean per method, since a service may have methods of 1 ms and of 100
// ms. It is learned while the service has room. A limit that has been lowered shows whether it is
// right: calls that had waited inside take less time now. If they take as long as before, none of
// them waited, and what they take is the mean: a dependency has become slow. Then the service also
// answers fewer calls. Where it does not under an overload, those that ended still come from the
// longer line of before, and the limit is judged once more. Under an overload that
// lasts the limit is a quarter lower for one window from time to time. If calls take less than the
// mean then, that was too high, and the next check follows at once. Checks cost about 1% of the
// throughput in the long run.
//
// A deadline ends a call after the same time however long the line is, so times say nothing where
// deadlines end most calls. A service in use in which they do for seconds has too many inside.
//
// The start is a search: the limit doubles while calls wait for slots, until they wait inside. How
// sure a window is follows from how far the times of its calls are spread.
class AdaptiveLimit final : public LimitRule {
 public:
  explicit AdaptiveLimit(const AdaptiveLimitPolicy& policy);

  LimitStep Begin() override;
  std::optional<LimitStep> Next(const LimitWindow& window) override;

 private:
  // The time that a method takes when the service is unloaded.
  struct Base {
    void Learn(const MethodSamples& samples, double least);

    double seconds = 0;
    double calls = 0;   // seconds is their mean; kMemory at most; 0: unknown
    double spread = 0;  // their variance, as a share of the square of the mean
  };

  // The limit was lowered, and the window that follows shows what that has changed.
  struct Lowered {
    double from;         // the limit before
    double inflation;    // before
    double answers;      // before; as Sight::answers
    bool check;          // it was lowered for this window only
    bool again = false;  // this is the second window that shows it
  };

  // The service, as a window shows it.
  struct Sight {
    double inflation;
    double answers;    // per second, each as long as its method takes when unloaded
    double error;      // the relative standard error of the inflation
    double own_error;  // the part of it that comes from the window, and not from the means
    double refused;    // the share of calls refused, in the last second or so
    bool loaded;       // nearly all slots were taken
    bool done;         // the window is as long as it may be
  };

  LimitStep Restart(const LimitWindow& window);
  std::optional<LimitStep> EndFirst(const LimitWindow& window);
  Sight Look(const LimitWindow& window);
  bool Decide(const Sight& sight, const LimitWindow& window);
  double Most(const Sight& sight) const;
  void Learn(const LimitWindow& window, double least);
  void LearnNew(const LimitWindow& window);
  void JudgeLowered(const Lowered& lowered, const Sight& sight, const LimitWindow& window);
  void Grow();
  void Lower(const Sight& sight);
  void Check(const Sight& sight);
  void Clamp();
  LimitStep Step() const;

  const AdaptiveLimitPolicy policy_;
  double limit_;
  double judged_limit_;      // of the window that was judged last
  bool begun_ = false;       // a call has ended
  std::vector<Base> bases_;  // by the methods' numbers
  double latency_ = 0;       // in seconds, of the window's calls
  double refused_ = 0;       // as Sight::refused
  std::optional<Lowered> lowered_;
  double reached_ = 1e9;
  bool searches_ = true;   // the limit may be far too low, so it doubles
  double loaded_ = 0;      // seconds under load since the last check
  double next_check_ = 0;  // that is made after so many of them; 0: nothing is known for sure
};

}  // namespace levee
