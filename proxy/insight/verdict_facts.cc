// SPDX-License-Identifier: Apache-2.0
#include "insight/verdict_facts.h"

#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace levee {
namespace {

// The default budget hides failures of up to a tenth of the calls. When callers see more than that,
// it is no longer hidden.
constexpr double kSuffering = 0.1;

// Returns a share such as "31%" or "99.96%". Only all is "100%", and only none is "0%".
std::string Percent(uint64_t part, uint64_t whole) {
  if (part >= whole) return "100%";
  if (part == 0) return "0%";
  const double percent = 100 * Share(part, whole);
  if (percent > 99) return absl::StrCat(std::min(99.99, std::floor(percent * 100) / 100), "%");
  if (percent < 1) return absl::StrCat(std::ceil(percent * 100) / 100, "%");
  return absl::StrFormat("%.0f%%", percent);
}

std::string PerSecond(uint64_t calls, int seconds) {
  const double rate = static_cast<double>(calls) / std::max(seconds, 1);
  if (rate < 0.1) return "under 0.1 calls/s";
  return rate < 10 ? absl::StrFormat("%.1f calls/s", rate) : absl::StrFormat("%.0f calls/s", rate);
}

}  // namespace

double Share(uint64_t part, uint64_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

// Calls that a rate limit refuses are refused by intent, so they do not count.
bool VerdictFacts::suffering() const {
  const uint64_t limited = std::min(added_.rate_limited, failed_calls());
  const uint64_t failed = failed_calls() - limited;
  return Share(failed, added_.calls_judged()) > kSuffering &&
         (failed >= kSome || all_endpoints_bad());
}

std::string VerdictFacts::SayRate() const { return PerSecond(added_.calls, seconds_); }

std::string VerdictFacts::SayCallersOk() const {
  return absl::StrCat(Percent(added_.calls_ok, added_.calls_judged()), " OK");
}

// Leaves out the share of calls, or of attempts, if all of them were cancelled.
std::string VerdictFacts::SayHealth() const {
  if (failed_calls() == 0 && failed_attempts() == 0) return "";
  const std::string callers = Percent(added_.calls_ok, added_.calls_judged());
  if (added_.attempts_judged() == 0) return absl::StrCat("callers ", callers, " OK");
  const std::string upstream = Percent(added_.attempts_ok, added_.attempts_judged());
  if (added_.calls_judged() == 0) return absl::StrCat("upstream ", upstream, " OK");
  return absl::StrCat("upstream ", upstream, " OK, callers ", callers);
}

std::string VerdictFacts::SayCancelled() const {
  if (Share(added_.calls_cancelled, added_.calls) < kMuch) return "";
  return absl::StrCat(Percent(added_.calls_cancelled, added_.calls), " cancelled by callers");
}

std::string VerdictFacts::SayAmplification() const {
  const double amplification = Amplification(added_);
  if (added_.retries + added_.app_retries_admitted == 0 || amplification < 1.005) return "";
  const double bound = 1 + last_.budget.ratio;
  // The bound is shown only if it holds. The budget's floor allows more, by an amount that depends
  // on the load. And at the edges of the time window, more attempts may end than begin.
  const bool bounded = last_.budget.floor_withheld && amplification <= bound + 0.005;
  return absl::StrFormat("amplification %.2f%s", amplification,
                         bounded ? absl::StrFormat(" of at most %.2f", bound) : "");
}

std::string VerdictFacts::SayBudget() const {
  if (Refused(RefusalReason::kBudget) == 0) return "";
  if (budget_allows_none()) return "budget allows no retries";
  if (seconds_empty_ == 0) return "budget at times used up";
  if (seconds_empty_ >= History::kSeconds) return "budget empty for 5 min or more";
  return absl::StrCat("budget empty for ", seconds_empty_, " s");
}

// Says why most of the refused retries were refused, unless another fact says it.
std::string VerdictFacts::SayRefusals() const {
  const auto most = std::max_element(added_.refused.begin(), added_.refused.end());
  const auto reason = static_cast<RefusalReason>(most - added_.refused.begin());
  const bool said = reason == RefusalReason::kBudget || reason == RefusalReason::kOverloadMark ||
                    reason == RefusalReason::kPushback || reason == RefusalReason::kThrottle;
  if (*most == 0 || said) return "";
  return absl::StrFormat("%d %s refused: %s", *most, *most == 1 ? "retry" : "retries",
                         RefusalReasonPhrase(reason));
}

std::string VerdictFacts::SayLimit() const {
  if (added_.rate_limited == 0) return "";
  return absl::StrCat("rate limit refuses ", Percent(added_.rate_limited, added_.calls),
                      " of calls");
}

std::string VerdictFacts::SayThrottle() const {
  if (added_.throttle_rejected > 0) {
    return absl::StrCat("throttle rejects ", Percent(added_.throttle_rejected, added_.calls),
                        " of calls");
  }
  if (added_.throttle_observed == 0) return "";
  return absl::StrCat("throttle would reject ", Percent(added_.throttle_observed, added_.calls),
                      " of calls");
}

// Says why, by the reason of most refusals.
std::string VerdictFacts::SayGuard() const {
  if (guard_refused() == 0 || !last_.guard.has_value()) return "";
  const int limit = last_.guard->limit;
  const std::string slots = absl::StrCat(limit, limit == 1 ? " slot" : " slots");
  const bool queue = GuardRefused(GuardReason::kQueue) >= GuardRefused(GuardReason::kConcurrency);
  return absl::StrCat("guard ", guard_acts() ? "refuses " : "would refuse ",
                      Percent(guard_refused(), added_.calls), " of calls: ",
                      queue ? absl::StrCat("queue too long for ", slots)
                            : absl::StrCat(slots, " taken, no more may wait"));
}

std::string VerdictFacts::SayGuardScope() const {
  const bool told =
      guard_acts() && guard_refused() > 0 && last_.guard->scope == OverloadScope::kService;
  return told ? "callers retry and are told to give up" : "";
}

std::string VerdictFacts::SayApp() const {
  if (app_retries() == 0) return "";
  std::string text = absl::StrCat(
      "the application retries by itself: ", Percent(app_retries(), added_.calls), " of calls");
  if (added_.app_retries_refused == 0) return text;
  return absl::StrCat(text, ", ", added_.app_retries_refused, " of them refused");
}

std::string VerdictFacts::SayEndpoints() const {
  if (endpoints_.all == 0) return "";
  if (bad_endpoints() == 0) {
    if (!upstream_fails() || endpoints_.ready < endpoints_.all || endpoints_.all == 1) return "";
    return absl::StrCat("all ", endpoints_.all, " endpoints connected");
  }
  const int bad = bad_endpoints();
  return absl::StrFormat("%d of %d endpoints %s %s", bad, endpoints_.all, bad == 1 ? "is" : "are",
                         endpoints_.failing == 0 ? "ejected" : "failing");
}

std::string VerdictFacts::Say(Fact fact) const {
  switch (fact) {
    case Fact::kHealth:
      return SayHealth();
    case Fact::kCancelled:
      return SayCancelled();
    case Fact::kAmplification:
      return SayAmplification();
    case Fact::kBudget:
      return SayBudget();
    case Fact::kRefusals:
      return SayRefusals();
    case Fact::kMarks:
      return added_.marks_received == 0 ? "" : "upstream says overloaded";
    case Fact::kLimit:
      return SayLimit();
    case Fact::kThrottle:
      return SayThrottle();
    case Fact::kGuard:
      return SayGuard();
    case Fact::kGuardScope:
      return SayGuardScope();
    case Fact::kApp:
      return SayApp();
    case Fact::kEndpoints:
      return SayEndpoints();
  }
  return "";
}

}  // namespace levee
