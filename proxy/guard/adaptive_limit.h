// SPDX-License-Identifier: Apache-2.0
// The number of calls at which a service's throughput no longer grows and its latency begins to.
#pragma once

#include <optional>
#include <vector>

#include "guard/limit_rule.h"
#include "policy/guard_policy.h"

namespace levee {

// By Little's law a service that works on N calls, and takes `inflation` times as long for them as
// when it is unloaded, has N x (1 - 1 / inflation) of them waiting inside. While calls find no
// slot, the limit rises as long as hardly any wait, and falls as soon as more than a few do: the
// rule of TCP Vegas (Brakmo and Peterson, 1995), with a gradient where the limit is far off.
//
// "When it is unloaded" is a mean per method, since a service may have methods of 1 ms and of 100
// ms. It is learned while the service has room. Under an overload that lasts it is checked: from
// time to time the limit is a quarter lower for one window. If the calls take as long as before,
// then none of them waited, and what they take is the mean. If they take less than the mean that is
// known, that was too high. So the limit neither drifts up (a reference that is learned under load
// does) nor strangles a service that has become slower. A check costs at most 2% of the throughput.
class AdaptiveLimit final : public LimitRule {
 public:
  explicit AdaptiveLimit(const AdaptiveLimitPolicy& policy);

  LimitStep Begin() override;
  std::optional<LimitStep> Next(const LimitWindow& window) override;

 private:
  // The time that a method takes when the service is unloaded.
  struct Base {
    double seconds = 0;
    double calls = 0;  // seconds is their mean; kMemory at most; 0: unknown
  };

  // The limit was lowered, and the window that follows shows what that has changed.
  struct Lowered {
    double from;       // the limit before
    double inflation;  // before
    bool check;        // it was lowered for this window only
  };

  double Inflation(const LimitWindow& window);
  bool IsSure(double inflation) const;
  void Learn(const LimitWindow& window, double least);
  void JudgeLowered(const Lowered& lowered, double inflation, const LimitWindow& window);
  void Adjust(double inflation, bool may_grow);
  void Clamp();
  bool Check(double inflation);
  LimitStep Step() const;

  const AdaptiveLimitPolicy policy_;
  double limit_;
  std::vector<Base> bases_;  // by the methods' numbers
  double latency_ = 0;       // in seconds, of the call that holds the average slot
  double weight_ = 0;        // of the window: as many equal calls say as much
  std::optional<Lowered> lowered_;
  double reached_ = 1e9;
  bool rising_ = false;    // nobody waited when it was lowered, so it may be far too low
  double loaded_ = 0;      // seconds under load since the last check
  double next_check_ = 0;  // that is made after so many of them
};

}  // namespace levee
