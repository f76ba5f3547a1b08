// SPDX-License-Identifier: Apache-2.0
// Rules of others for a service's limit, to compare AdaptiveLimit with. They are written after
// their published descriptions. All judge one mean of all methods, as these do, in windows of 100
// ms.
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "guard/limit_rule.h"
#include "policy/guard_policy.h"

namespace levee {

// What all of them have in common: an update for each window with enough calls.
class WindowedLimit : public LimitRule {
 public:
  LimitStep Begin() override { return Step(); }
  std::optional<LimitStep> Next(const LimitWindow& window) override;

 protected:
  explicit WindowedLimit(const AdaptiveLimitPolicy& policy)
      : policy_(policy), limit_(policy.initial) {}

  // `seconds`: what the calls of the window took, on average. Changes limit_, which is then kept
  // within the bounds of the policy.
  virtual void Update(const LimitWindow& window, double seconds) = 0;
  virtual LimitStep Step() const;

  // The callers want less than half of what the limit allows.
  bool IsIdle(const LimitWindow& window) const { return window.in_flight < limit_ / 2; }

  const AdaptiveLimitPolicy policy_;
  double limit_;
};

// Additive increase and multiplicative decrease, as TCP's (Chiu and Jain, "Analysis of the increase
// and decrease algorithms", 1989); for services by Welsh and Culler, "Adaptive overload control for
// busy Internet servers", USITS 2003. The sign of overload is a time of more than `tolerance` times
// the lowest mean that was seen.
class AimdLimit final : public WindowedLimit {
 public:
  explicit AimdLimit(const AdaptiveLimitPolicy& policy) : WindowedLimit(policy) {}

 private:
  void Update(const LimitWindow& window, double seconds) override;

  double lowest_ = 1e9;
};

// VegasLimit of Netflix's concurrency-limits (github.com/Netflix/concurrency-limits), by its
// description: the estimated queue is held between 3 and 6 x log10(limit), and the time without
// load is the lowest that was seen, which is taken anew every 30 x limit windows.
class VegasLimit final : public WindowedLimit {
 public:
  explicit VegasLimit(const AdaptiveLimitPolicy& policy) : WindowedLimit(policy) {}

 private:
  void Update(const LimitWindow& window, double seconds) override;

  double lowest_ = 1e9;
  double windows_ = 0;  // since the lowest was taken anew
};

// Gradient2Limit of the same library: the time of the window is compared with its exponential
// average over 600 windows. The calls may take 1.5 times as long as that, and a queue of
// sqrt(limit) is allowed.
class Gradient2Limit final : public WindowedLimit {
 public:
  explicit Gradient2Limit(const AdaptiveLimitPolicy& policy) : WindowedLimit(policy) {}

 private:
  void Update(const LimitWindow& window, double seconds) override;

  double average_ = 0;  // seconds
  double windows_ = 0;  // that are in it; 600 at most
};

// The gradient controller of Envoy's adaptive concurrency filter, by its documentation and with its
// defaults: once a minute only 3 calls at a time are let through until 50 have ended, and their
// mean is the time without load. The calls may take 1.25 times as long, and sqrt(limit) is
// headroom.
class EnvoyLimit final : public WindowedLimit {
 public:
  explicit EnvoyLimit(const AdaptiveLimitPolicy& policy) : WindowedLimit(policy) {}

  LimitStep Begin() override;
  std::optional<LimitStep> Next(const LimitWindow& window) override;

 private:
  void Update(const LimitWindow& window, double seconds) override;
  LimitStep Step() const override;

  bool probing_ = true;
  double unloaded_ = 0;   // seconds
  double taken_ = 0;      // seconds, by the calls of the last window
  double since_ = 0;      // seconds since the last probe
  int at_the_least_ = 0;  // windows
};

}  // namespace levee
