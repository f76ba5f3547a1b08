// SPDX-License-Identifier: Apache-2.0
#include "insight/verdict.h"

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "insight/verdict_facts.h"

namespace levee {
namespace {

// From this amplification on, the load counts as amplified. It is above what retry budgets cause by
// intent: the usual one allows 1.1, and with the budget's floor an upstream with few calls and one
// bad endpoint of three has 1.34.
constexpr double kAmplified = 1.5;

// Fewer than ten events are no storm, whatever their share is.
constexpr uint64_t kMany = 10;

// Chooses the headline, and appends the facts that are not in the headline.
class Judgement {
 public:
  explicit Judgement(const VerdictFacts& facts) : facts_(facts), added_(facts.added()) {}

  Verdict Judge();

 private:
  // Each of these returns false if the headline is not about its subject. Otherwise it sets the
  // headline, and `told_` to the facts that the headline states.
  bool JudgeQuiet();
  bool JudgeUnreachable();
  bool JudgeGuarded();
  bool JudgeAmplified();
  bool JudgeStorm();
  bool JudgeOverloaded();
  bool JudgeThrottled();
  bool JudgeLimited();
  bool JudgeAppRetries();
  bool JudgeSomeEndpoints();
  bool JudgeFailing();
  bool JudgeCancelled();
  void Headline(Severity least, std::string text, std::initializer_list<Fact> told = {});
  void Add(const std::string& fact);

  const VerdictFacts& facts_;
  const UpstreamTotals& added_;
  Verdict verdict_;
  std::vector<Fact> told_;  // in the headline
  bool first_fact_ = true;
};

void Judgement::Headline(Severity least, std::string text, std::initializer_list<Fact> told) {
  verdict_ = {.severity = facts_.suffering() ? Severity::kAlarm : least, .text = std::move(text)};
  told_ = told;
}

bool Judgement::JudgeQuiet() {
  if (added_.calls > 0) return false;
  if (facts_.all_endpoints_bad()) {
    Headline(Severity::kContained, "no calls; every endpoint is failing", {Fact::kEndpoints});
  } else {
    Headline(facts_.bad_endpoints() > 0 ? Severity::kContained : Severity::kCalm, "no calls");
  }
  return true;
}

bool Judgement::JudgeUnreachable() {
  if (!facts_.all_endpoints_bad()) return false;
  Headline(
      Severity::kContained,
      facts_.endpoints().all == 1 ? "the only endpoint is failing" : "every endpoint is failing",
      {Fact::kEndpoints});
  return true;
}

// A guard that acts is why callers see failures. One that observes is one fact among others.
bool Judgement::JudgeGuarded() {
  const uint64_t refused = facts_.guard_refused();
  if (!facts_.guard_acts() || refused < kMany || Share(refused, added_.calls) < kNoise)
    return false;
  Headline(Severity::kContained, facts_.Say(Fact::kGuard), {Fact::kGuard});
  return true;
}

bool Judgement::JudgeAmplified() {
  const uint64_t more = added_.retries + added_.app_retries_admitted;
  const double amplification = Amplification(added_);
  if (amplification < kAmplified || more < kMany) return false;
  const bool own = added_.retries >= added_.app_retries_admitted;
  Headline(Severity::kContained,
           absl::StrFormat("load amplified %.2f times, mostly by %s retries", amplification,
                           own ? "Levee's own" : "the application's"),
           {Fact::kAmplification});
  return true;
}

// Many retries of failed attempts were wanted, and the budget allowed only some of them. While many
// callers see failures, the headline does not call the storm contained, but only the load.
bool Judgement::JudgeStorm() {
  const uint64_t refused = facts_.Refused(RefusalReason::kBudget);  // of the application as well
  if (refused < kMany || Share(refused, added_.calls) < kNoise) return false;
  if (!facts_.upstream_fails() || facts_.budget_allows_none()) return false;
  Headline(Severity::kContained,
           facts_.suffering() ? "upstream failing, load contained" : "storm contained");
  return true;
}

bool Judgement::JudgeOverloaded() {
  if (Share(added_.marks_received, added_.attempts) < kNoise) return false;
  const bool service =
      facts_.Refused(RefusalReason::kOverloadMark) + facts_.Refused(RefusalReason::kPushback) > 0;
  Headline(Severity::kContained,
           service ? "upstream says overloaded; not retried" : "endpoints say overloaded",
           {Fact::kMarks});
  return true;
}

// While the throttle acts, it is why callers see failures. One that observes changes nothing, so it
// is only one fact among others.
bool Judgement::JudgeThrottled() {
  const uint64_t rejected = added_.throttle_rejected;
  if (rejected < kMany || Share(rejected, added_.calls) < kNoise) return false;
  Headline(Severity::kContained, absl::StrCat("upstream overloaded; ", facts_.Say(Fact::kThrottle)),
           {Fact::kThrottle});
  return true;
}

bool Judgement::JudgeLimited() {
  if (Share(added_.rate_limited, added_.calls) < kNoise) return false;
  Headline(Severity::kContained, facts_.Say(Fact::kLimit), {Fact::kLimit});
  return true;
}

bool Judgement::JudgeAppRetries() {
  if (Share(facts_.app_retries(), added_.calls) < kMuch || facts_.app_retries() < kSome)
    return false;
  Headline(Severity::kContained, facts_.Say(Fact::kApp), {Fact::kApp});
  return true;
}

bool Judgement::JudgeSomeEndpoints() {
  if (facts_.bad_endpoints() == 0) return false;
  Headline(Severity::kContained,
           absl::StrCat(facts_.Say(Fact::kEndpoints), facts_.hidden() ? "; retries hide it" : ""),
           {Fact::kEndpoints});
  return true;
}

bool Judgement::JudgeFailing() {
  if (!facts_.upstream_fails() && !facts_.callers_fail()) return false;
  std::string text = "callers see failures";
  if (facts_.hidden()) text = "retries hide failures";
  if (!facts_.callers_fail() && !facts_.hidden()) text = "some attempts fail";
  Headline(Severity::kContained, std::move(text));
  return true;
}

// Streams that never end by themselves are all cancelled by their callers, so this alarms nobody.
bool Judgement::JudgeCancelled() {
  if (added_.calls_judged() > 0) return false;
  Headline(Severity::kCalm, "every call was cancelled by its caller", {Fact::kCancelled});
  return true;
}

void Judgement::Add(const std::string& fact) {
  const absl::string_view separator = first_fact_ ? "; " : ", ";
  const size_t size = verdict_.text.size() + separator.size() + fact.size();
  if (fact.empty() || size > kMaxVerdictBytes) return;
  absl::StrAppend(&verdict_.text, separator, fact);
  first_fact_ = false;
}

Verdict Judgement::Judge() {
  const bool headline = JudgeQuiet() || JudgeUnreachable() || JudgeGuarded() || JudgeAmplified() ||
                        JudgeThrottled() || JudgeStorm() || JudgeOverloaded() || JudgeLimited() ||
                        JudgeAppRetries() || JudgeSomeEndpoints() || JudgeFailing() ||
                        JudgeCancelled();
  const std::string rate = facts_.SayRate();
  if (!headline) {
    verdict_.text = absl::StrCat("calm: ", rate, ", ", facts_.SayCallersOk());
    first_fact_ = false;
    Add(facts_.Say(Fact::kCancelled));
    Add(facts_.Say(Fact::kGuard));
    return verdict_;
  }
  // Only the application's owner can act against the application's own retries, so this fact comes
  // first if there are many of them.
  const bool app_first = Share(facts_.app_retries(), added_.calls) >= kMuch;
  std::vector<Fact> facts = {Fact::kHealth,   Fact::kCancelled,  Fact::kAmplification,
                             Fact::kBudget,   Fact::kMarks,      Fact::kThrottle,
                             Fact::kGuard,    Fact::kGuardScope, Fact::kLimit,
                             Fact::kRefusals, Fact::kEndpoints};
  facts.insert(app_first ? facts.begin() : facts.end(), Fact::kApp);
  for (const Fact fact : facts) {
    if (std::find(told_.begin(), told_.end(), fact) == told_.end()) Add(facts_.Say(fact));
  }
  if (added_.calls > 0) Add(rate);
  return verdict_;
}

}  // namespace

Verdict Judge(const HistorySample& last, int seconds, int seconds_empty,
              const EndpointCounts& endpoints) {
  return Judgement(VerdictFacts(last, seconds, seconds_empty, endpoints)).Judge();
}

}  // namespace levee
