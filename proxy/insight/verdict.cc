#include "insight/verdict.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace levee {
namespace {

// Below one in a hundred, failures are the noise of any network: deploys, idle connections that
// close. The sentence shows them, but nobody need come for them.
constexpr double kNoise = 0.01;

// The default budget hides failures of up to a tenth of the calls. When callers see more than that,
// it is no longer hidden.
constexpr double kSuffering = 0.1;

// Applications that retry do so with what fails; a tenth of the calls is far above noise, and more
// than Levee's own retries may be.
constexpr double kMuch = 0.1;

// The usual budget allows 1.1; a quiet upstream with one bad endpoint of three has 1.34 by intent
// (the budget's floor). Half as much again is neither.
constexpr double kAmplified = 1.5;

// One or two events make no alarm, and fewer than ten no storm, whatever their share is.
constexpr uint64_t kSome = 3;
constexpr uint64_t kMany = 10;

// Counters that are read one after the other may differ by the calls of that moment.
uint64_t Above(uint64_t whole, uint64_t part) { return whole - std::min(whole, part); }

double Share(uint64_t part, uint64_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

// "31%", "99.96%"; 100% is all and 0% is none.
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

// What the sentence is made from, and the sentence.
class Judgement {
 public:
  Judgement(const HistorySample& last, int seconds, int seconds_empty,
            const EndpointCounts& endpoints)
      : last_(last),
        added_(last.added),
        seconds_(seconds),
        seconds_empty_(seconds_empty),
        endpoints_(endpoints) {}

  Verdict Judge();

 private:
  enum class Fact {
    kHealth,
    kCancelled,
    kAmplification,
    kBudget,
    kRefusals,
    kMarks,
    kLimit,
    kApp,
    kEndpoints
  };

  // The headline, if it is about this; it says `told_` of the facts.
  bool JudgeQuiet();
  bool JudgeUnreachable();
  bool JudgeAmplified();
  bool JudgeStorm();
  bool JudgeOverloaded();
  bool JudgeLimited();
  bool JudgeAppRetries();
  bool JudgeSomeEndpoints();
  bool JudgeFailing();
  bool JudgeCancelled();
  void Headline(Severity least, std::string text, std::initializer_list<Fact> told = {});

  // Empty if there is nothing to say of it.
  std::string Say(Fact fact) const;
  std::string SayHealth() const;
  std::string SayCancelled() const;
  std::string SayAmplification() const;
  std::string SayBudget() const;
  std::string SayRefusals() const;
  std::string SayApp() const;
  std::string SayEndpoints() const;
  void Add(const std::string& fact);

  uint64_t failed_calls() const { return Above(added_.calls_judged(), added_.calls_ok); }
  uint64_t failed_attempts() const { return Above(added_.attempts_judged(), added_.attempts_ok); }
  uint64_t app_retries() const { return added_.app_retries_admitted + added_.app_retries_refused; }
  uint64_t Refused(RefusalReason reason) const {
    return added_.refused[static_cast<size_t>(reason)];
  }
  int bad_endpoints() const { return endpoints_.failing + endpoints_.ejected; }
  bool upstream_fails() const {
    return Share(failed_attempts(), added_.attempts_judged()) >= kNoise;
  }
  bool callers_fail() const { return Share(failed_calls(), added_.calls_judged()) >= kNoise; }
  bool budget_allows_none() const { return last_.budget.limit <= 0 && last_.budget.ratio <= 0; }
  bool hidden() const { return added_.retries > 0 && upstream_fails() && !callers_fail(); }
  bool suffering() const;

  const HistorySample& last_;
  const UpstreamTotals& added_;
  const int seconds_;
  const int seconds_empty_;
  const EndpointCounts& endpoints_;
  Verdict verdict_;
  std::vector<Fact> told_;
  bool first_fact_ = true;
};

// Calls that a rate limit refuses are refused by intent, so nobody is alarmed by them.
bool Judgement::suffering() const {
  const uint64_t limited = std::min(added_.rate_limited, failed_calls());
  const uint64_t failed = failed_calls() - limited;
  const bool dead = endpoints_.all > 0 && bad_endpoints() == endpoints_.all;
  return Share(failed, added_.calls_judged()) > kSuffering && (failed >= kSome || dead);
}

void Judgement::Headline(Severity least, std::string text, std::initializer_list<Fact> told) {
  verdict_ = {.severity = suffering() ? Severity::kAlarm : least, .text = std::move(text)};
  told_ = told;
}

bool Judgement::JudgeQuiet() {
  if (added_.calls > 0) return false;
  if (endpoints_.all > 0 && bad_endpoints() == endpoints_.all) {
    Headline(Severity::kContained, "no calls; every endpoint is failing", {Fact::kEndpoints});
  } else {
    Headline(bad_endpoints() > 0 ? Severity::kContained : Severity::kCalm, "no calls");
  }
  return true;
}

bool Judgement::JudgeUnreachable() {
  if (endpoints_.all == 0 || bad_endpoints() < endpoints_.all) return false;
  Headline(Severity::kContained,
           endpoints_.all == 1 ? "the only endpoint is failing" : "every endpoint is failing",
           {Fact::kEndpoints});
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

// Many retries of failed attempts were wanted, and the budget allowed some of them. While callers
// suffer nobody wants to hear that all is contained: what is, is the load.
bool Judgement::JudgeStorm() {
  const uint64_t refused = Refused(RefusalReason::kBudget);  // of the application as well
  if (refused < kMany || Share(refused, added_.calls) < kNoise) return false;
  if (!upstream_fails() || budget_allows_none()) return false;
  Headline(Severity::kContained,
           suffering() ? "upstream failing, load contained" : "storm contained");
  return true;
}

bool Judgement::JudgeOverloaded() {
  if (Share(added_.marks_received, added_.attempts) < kNoise) return false;
  const bool service =
      Refused(RefusalReason::kOverloadMark) + Refused(RefusalReason::kPushback) > 0;
  Headline(Severity::kContained,
           service ? "upstream says overloaded; not retried" : "endpoints say overloaded",
           {Fact::kMarks});
  return true;
}

bool Judgement::JudgeLimited() {
  if (Share(added_.rate_limited, added_.calls) < kNoise) return false;
  Headline(Severity::kContained, Say(Fact::kLimit), {Fact::kLimit});
  return true;
}

bool Judgement::JudgeAppRetries() {
  if (Share(app_retries(), added_.calls) < kMuch || app_retries() < kSome) return false;
  Headline(Severity::kContained, SayApp(), {Fact::kApp});
  return true;
}

bool Judgement::JudgeSomeEndpoints() {
  if (bad_endpoints() == 0) return false;
  Headline(Severity::kContained, absl::StrCat(SayEndpoints(), hidden() ? "; retries hide it" : ""),
           {Fact::kEndpoints});
  return true;
}

bool Judgement::JudgeFailing() {
  if (!upstream_fails() && !callers_fail()) return false;
  std::string text = "callers see failures";
  if (hidden()) text = "retries hide failures";
  if (!callers_fail() && !hidden()) text = "some attempts fail";
  Headline(Severity::kContained, std::move(text));
  return true;
}

// Callers of streams that never end by themselves cancel all of them, so that is nothing to come
// for.
bool Judgement::JudgeCancelled() {
  if (added_.calls_judged() > 0) return false;
  Headline(Severity::kCalm, "every call was cancelled by its caller", {Fact::kCancelled});
  return true;
}

// Nothing of calls and attempts of which none had an end to judge.
std::string Judgement::SayHealth() const {
  if (failed_calls() == 0 && failed_attempts() == 0) return "";
  const std::string callers = Percent(added_.calls_ok, added_.calls_judged());
  if (added_.attempts_judged() == 0) return absl::StrCat("callers ", callers, " OK");
  const std::string upstream = Percent(added_.attempts_ok, added_.attempts_judged());
  if (added_.calls_judged() == 0) return absl::StrCat("upstream ", upstream, " OK");
  return absl::StrCat("upstream ", upstream, " OK, callers ", callers);
}

std::string Judgement::SayCancelled() const {
  if (Share(added_.calls_cancelled, added_.calls) < kMuch) return "";
  return absl::StrCat(Percent(added_.calls_cancelled, added_.calls), " cancelled by callers");
}

std::string Judgement::SayAmplification() const {
  const double amplification = Amplification(added_);
  if (added_.retries + added_.app_retries_admitted == 0 || amplification < 1.005) return "";
  const double bound = 1 + last_.budget.ratio;
  // With the floor more is allowed, by how much depends on the load; and at the window's edges what
  // ends is more than what began.
  const bool bounded = last_.budget.floor_withheld && amplification <= bound + 0.005;
  return absl::StrFormat("amplification %.2f%s", amplification,
                         bounded ? absl::StrFormat(" of at most %.2f", bound) : "");
}

std::string Judgement::SayBudget() const {
  if (Refused(RefusalReason::kBudget) == 0) return "";
  if (budget_allows_none()) return "budget allows no retries";
  if (seconds_empty_ == 0) return "budget at times used up";
  if (seconds_empty_ >= History::kSeconds) return "budget empty for 5 min or more";
  return absl::StrCat("budget empty for ", seconds_empty_, " s");
}

// Why most of the retries that were wanted were not made, unless another fact says it.
std::string Judgement::SayRefusals() const {
  const auto most = std::max_element(added_.refused.begin(), added_.refused.end());
  const auto reason = static_cast<RefusalReason>(most - added_.refused.begin());
  const bool said = reason == RefusalReason::kBudget || reason == RefusalReason::kOverloadMark ||
                    reason == RefusalReason::kPushback;
  if (*most == 0 || said) return "";
  return absl::StrFormat("%d %s refused: %s", *most, *most == 1 ? "retry" : "retries",
                         RefusalReasonPhrase(reason));
}

std::string Judgement::SayApp() const {
  if (app_retries() == 0) return "";
  std::string text = absl::StrCat(
      "the application retries by itself: ", Percent(app_retries(), added_.calls), " of calls");
  if (added_.app_retries_refused == 0) return text;
  return absl::StrCat(text, ", ", added_.app_retries_refused, " of them refused");
}

std::string Judgement::SayEndpoints() const {
  if (endpoints_.all == 0) return "";
  if (bad_endpoints() == 0) {
    if (!upstream_fails() || endpoints_.ready < endpoints_.all || endpoints_.all == 1) return "";
    return absl::StrCat("all ", endpoints_.all, " endpoints connected");
  }
  const int bad = bad_endpoints();
  return absl::StrFormat("%d of %d endpoints %s %s", bad, endpoints_.all, bad == 1 ? "is" : "are",
                         endpoints_.failing == 0 ? "ejected" : "failing");
}

std::string Judgement::Say(Fact fact) const {
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
      return added_.rate_limited == 0
                 ? ""
                 : absl::StrCat("rate limit refuses ", Percent(added_.rate_limited, added_.calls),
                                " of calls");
    case Fact::kApp:
      return SayApp();
    case Fact::kEndpoints:
      return SayEndpoints();
  }
  return "";
}

void Judgement::Add(const std::string& fact) {
  const absl::string_view separator = first_fact_ ? "; " : ", ";
  const size_t size = verdict_.text.size() + separator.size() + fact.size();
  if (fact.empty() || size > kMaxVerdictBytes) return;
  absl::StrAppend(&verdict_.text, separator, fact);
  first_fact_ = false;
}

Verdict Judgement::Judge() {
  const bool headline = JudgeQuiet() || JudgeUnreachable() || JudgeAmplified() || JudgeStorm() ||
                        JudgeOverloaded() || JudgeLimited() || JudgeAppRetries() ||
                        JudgeSomeEndpoints() || JudgeFailing() || JudgeCancelled();
  const std::string rate = PerSecond(added_.calls, seconds_);
  if (!headline) {
    verdict_.text =
        absl::StrCat("calm: ", rate, ", ", Percent(added_.calls_ok, added_.calls_judged()), " OK");
    first_fact_ = false;
    Add(SayCancelled());
    return verdict_;
  }
  // Whose retries they are decides who has to act, so much of the application's come first.
  const bool app_first = Share(app_retries(), added_.calls) >= kMuch;
  std::vector<Fact> facts = {Fact::kHealth,   Fact::kCancelled, Fact::kAmplification,
                             Fact::kBudget,   Fact::kMarks,     Fact::kLimit,
                             Fact::kRefusals, Fact::kEndpoints};
  facts.insert(app_first ? facts.begin() : facts.end(), Fact::kApp);
  for (const Fact fact : facts) {
    if (std::find(told_.begin(), told_.end(), fact) == told_.end()) Add(Say(fact));
  }
  if (added_.calls > 0) Add(rate);
  return verdict_;
}

}  // namespace

Verdict Judge(const HistorySample& last, int seconds, int seconds_empty,
              const EndpointCounts& endpoints) {
  return Judgement(last, seconds, seconds_empty, endpoints).Judge();
}

}  // namespace levee
