// SPDX-License-Identifier: Apache-2.0
#include "config/policy_warnings.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <initializer_list>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "config/rate_limit_text.h"
#include "config/values.h"

namespace levee {
namespace {

namespace v1 = config::v1;
using Idempotency = v1::Idempotency;

constexpr double kAdvisedRatio = 0.5;

// Codes that the request or the caller causes, so that a retry changes nothing.
constexpr std::array kPermanent = {StatusCode::kInvalidArgument,    StatusCode::kNotFound,
                                   StatusCode::kAlreadyExists,      StatusCode::kPermissionDenied,
                                   StatusCode::kFailedPrecondition, StatusCode::kOutOfRange,
                                   StatusCode::kUnimplemented,      StatusCode::kUnauthenticated};

// Returns nullopt for `none` and for text that is not a duration.
std::optional<absl::Duration> Finite(const std::string& text) {
  const absl::StatusOr<absl::Duration> duration = ParseDuration(text);
  if (!duration.ok()) return std::nullopt;
  return *duration;
}

// `lists`: a Retry or a RetryRule.
template <typename Message>
bool Lists(const Message& lists, v1::Retry::Failure failure) {
  return std::find(lists.failures().begin(), lists.failures().end(), failure) !=
         lists.failures().end();
}

template <typename Message>
bool ListsMaybeProcessed(const Message& lists) {
  return lists.codes_size() + lists.http_size() > 0 || Lists(lists, v1::Retry::FAILURE_RESET) ||
         Lists(lists, v1::Retry::FAILURE_TIMEOUT);
}

int MaxAttempts(const v1::Retry& retry) {
  int most = retry.max_attempts();
  for (const v1::RetryRule& rule : retry.rules()) most = std::max(most, rule.max_attempts());
  return most;
}

class PolicyWarnings {
 public:
  PolicyWarnings(const std::string& path, const v1::Policy& policy, const Positions& positions,
                 const KnownParts& known, FaultList& warnings)
      : path_(path), policy_(policy), positions_(positions), known_(known), warnings_(warnings) {}

  void CheckAttemptTimeout(bool described);
  void CheckBudget();
  void CheckThrottle();
  template <typename Message>
  void CheckLists(const std::string& path, const Message& lists);

 private:
  void Add(const std::string& path, CheckCode code, std::string text) {
    warnings_.Add(positions_.Find(path), code, std::move(text));
  }
  bool Knows(std::initializer_list<const char*> fields) const {
    return known_.KnowsAll(path_, fields);
  }
  bool RetriesTimeouts(bool described) const;
  void CheckFloor(const std::string& path, const v1::Budget& budget);
  void CheckBurst(const std::string& path, const v1::Budget& budget);
  void CheckWait(const std::string& path, const v1::Budget& budget);
  void CheckStatedRate(const std::string& path, const v1::Budget& budget);
  template <typename Message>
  void CheckNever(const std::string& path, const Message& lists);

  const std::string& path_;
  const v1::Policy& policy_;
  const Positions& positions_;
  const KnownParts& known_;
  FaultList& warnings_;
};

bool PolicyWarnings::RetriesTimeouts(bool described) const {
  const Idempotency& idempotency = policy_.idempotency();
  if (idempotency.mode() == Idempotency::MODE_NEVER) return false;
  if (idempotency.mode() == Idempotency::MODE_ALWAYS || idempotency.has_key() || described) {
    return true;
  }
  bool listed = Lists(policy_.retry(), v1::Retry::FAILURE_TIMEOUT);
  for (const v1::RetryRule& rule : policy_.retry().rules()) {
    listed |= Lists(rule, v1::Retry::FAILURE_TIMEOUT);
  }
  return listed;
}

void PolicyWarnings::CheckAttemptTimeout(bool described) {
  if (!Knows({"retry.attempt_timeout", "retry.max_attempts", "retry.rules"})) return;
  const std::string path = path_ + ".retry.attempt_timeout";
  const std::optional<absl::Duration> attempt = Finite(policy_.retry().attempt_timeout());
  const std::optional<absl::Duration> timeout = Finite(policy_.timeout());
  const int attempts = MaxAttempts(policy_.retry());
  if (!attempt.has_value() || attempts < 2) return;
  if (Knows({"timeout"}) && timeout.has_value() && *attempt * attempts > *timeout) {
    Add(path, CheckCode::kAttemptsExceedTimeout,
        absl::StrCat(attempts, " attempts of ", policy_.retry().attempt_timeout(), " take ",
                     absl::FormatDuration(*attempt * attempts), ", longer than timeout, ",
                     policy_.timeout(), "; lower this or max_attempts, or raise timeout"));
  }
  if (Knows({"retry.failures", "idempotency"}) && !RetriesTimeouts(described)) {
    Add(path, CheckCode::kAttemptTimeoutNotRetried,
        "ends attempts, but failures lacks timeout, so they are not retried; list timeout there if "
        "the calls may run twice, or leave this out, because timeout bounds the call");
  }
}

void PolicyWarnings::CheckBudget() {
  if (!Knows({"retry.budget", "retry.max_attempts", "retry.rules", "hedge"})) return;
  const std::string path = path_ + ".retry.budget";
  const v1::Budget& budget = policy_.retry().budget();
  if (MaxAttempts(policy_.retry()) < 2 && !policy_.has_hedge()) return;
  if (budget.ratio() > kAdvisedRatio) {
    Add(path + ".ratio", CheckCode::kHighRatio,
        absl::StrCat(budget.ratio(), " adds more than half of the load to an upstream that is in ",
                     "trouble; ", kAdvisedRatio, " or less is advised, 0.1 is the default"));
  }
  CheckFloor(path, budget);
  CheckBurst(path, budget);
  CheckWait(path, budget);
  CheckStatedRate(path, budget);
}

void PolicyWarnings::CheckFloor(const std::string& path, const v1::Budget& budget) {
  const std::optional<absl::Duration> window = Finite(budget.window());
  if (!window.has_value()) return;
  const double floor = budget.floor().per_second() * absl::ToDoubleSeconds(*window);
  if (floor >= 1) return;
  if (budget.ratio() == 0) {
    Add(path + ".ratio", CheckCode::kBudgetAllowsNothing,
        "is 0, and the minimum (floor) allows less than one retry, so nothing is ever retried; "
        "raise one of the "
        "two, "
        "or say max_attempts: 1");
  } else if (budget.floor().per_second() > 0) {
    const bool by_window = positions_.Has(path + ".window");
    Add(path + (by_window ? ".window" : ".floor.per_second"), CheckCode::kFloorBelowOne,
        absl::StrCat("the minimum (floor), ", budget.floor().per_second(),
                     " per second in a window of ", budget.window(),
                     ", is below one retry and allows none; lengthen the window, ",
                     "raise floor.per_second, or set it to 0"));
  }
}

// The credit has to reach 1 for a retry, and it grows to ratio x calls at most. With ratio 0 there
// is no credit, and the floor alone rules.
void PolicyWarnings::CheckBurst(const std::string& path, const v1::Budget& budget) {
  if (!budget.burst().has_least() || budget.burst().least() >= 1 || budget.ratio() == 0) return;
  Add(path + ".burst.least", CheckCode::kBurstBelowOne,
      absl::StrCat(budget.burst().least(), " is below one retry: if an upstream has fewer than ",
                   std::ceil(1 / budget.ratio()), " calls in ", budget.burst().span(),
                   ", no call is ever retried; say 1 or more, 2 is the default"));
}

// The default is no statement of the policy, so it needs no warning.
void PolicyWarnings::CheckWait(const std::string& path, const v1::Budget& budget) {
  const std::optional<absl::Duration> wait = Finite(budget.wait());
  const std::optional<absl::Duration> timeout = Finite(policy_.timeout());
  if (!Knows({"timeout"}) || !positions_.Has(path + ".wait") || MaxAttempts(policy_.retry()) < 2)
    return;
  if (!wait.has_value() || !timeout.has_value() || *wait < *timeout) return;
  Add(path + ".wait", CheckCode::kWaitBeyondTimeout,
      absl::StrCat(budget.wait(), " is not shorter than timeout, ", policy_.timeout(),
                   ": calls end before their wait does; lower it, or raise timeout"));
}

// A limit without a key bounds all calls of the policy, and so the calls to each destination.
void PolicyWarnings::CheckStatedRate(const std::string& path, const v1::Budget& budget) {
  if (!Knows({"rate_limit"})) return;
  for (const v1::RateLimit& limit : policy_.rate_limit()) {
    const absl::StatusOr<Rate> rate = ParseRate(limit.rate());
    if (!rate.ok() || limit.key_size() > 0) continue;
    const double share = budget.ratio() * rate->per_second();
    if (share <= 0 || budget.floor().per_second() <= share) continue;
    Add(path + ".floor.per_second", CheckCode::kFloorAboveShare,
        absl::StrCat(
            budget.floor().per_second(), " is above what ratio allows of ", limit.rate(),
            ", the rate limit, which is ", share,
            " per second: the minimum (floor) alone decides how many retries there are; lower it"));
    return;
  }
}

// Observing rejects nothing, and is the way to find out what these codes mean.
void PolicyWarnings::CheckThrottle() {
  if (!Knows({"throttle.mode"})) return;
  if (policy_.throttle().mode() != v1::Throttle::MODE_ENFORCE) return;
  for (int i = 0; i < policy_.throttle().on_size(); ++i) {
    const bool unavailable = policy_.throttle().on(i) == v1::Throttle::SIGN_UNAVAILABLE;
    if (!unavailable && policy_.throttle().on(i) != v1::Throttle::SIGN_RESOURCE_EXHAUSTED) continue;
    Add(absl::StrCat(path_, ".throttle.on[", i, "]"), CheckCode::kThrottledOnCode,
        unavailable
            ? "says that the upstream cannot be used, not that it is overloaded: if a service "
              "fails at random, calls are rejected that would succeed; say on: [mark, timeout]"
            : "is also the answer to a caller that exceeds its own quota, and then the calls of "
              "all other callers are rejected, too; say on: [mark, timeout]");
  }
}

// `lists`: the Retry or one of its rules, which is at `path`.
template <typename Message>
void PolicyWarnings::CheckLists(const std::string& path, const Message& lists) {
  for (int i = 0; i < lists.http_size(); ++i) {
    const std::string& status = lists.http(i);
    if (!status.starts_with('4') || status == "408" || status == "429") continue;
    Add(absl::StrCat(path, ".http[", i, "]"), CheckCode::kHttpClientError,
        absl::StrCat(status,
                     " says that the request is wrong, and repeating it does not help; list 408, ",
                     "429 or 5xx"));
  }
  for (int i = 0; i < lists.codes_size(); ++i) {
    const std::optional<StatusCode> code = ParseStatusCode(lists.codes(i));
    if (!code || std::find(kPermanent.begin(), kPermanent.end(), *code) == kPermanent.end()) {
      continue;
    }
    Add(absl::StrCat(path, ".codes[", i, "]"), CheckCode::kPermanentStatus,
        absl::StrCat(lists.codes(i), " is about the request, and repeating it does not help; list ",
                     "codes of failures that pass, such as UNAVAILABLE"));
  }
  if (Knows({"idempotency"}) && policy_.idempotency().mode() == Idempotency::MODE_NEVER) {
    CheckNever(path, lists);
  }
}

template <typename Message>
void PolicyWarnings::CheckNever(const std::string& path, const Message& lists) {
  const auto warn = [this](const std::string& at) {
    Add(at, CheckCode::kNeverRetried,
        "is not retried with idempotency mode never: the call may have been processed; leave it "
        "out, or say auto");
  };
  if (positions_.Has(path + ".codes") && lists.codes_size() > 0) warn(path + ".codes");
  if (lists.http_size() > 0) warn(path + ".http");
  for (int i = 0; i < lists.failures_size(); ++i) {
    if (!known_.Knows(absl::StrCat(path, ".failures[", i, "]"))) continue;
    const bool safe = lists.failures(i) == v1::Retry::FAILURE_REFUSED ||
                      lists.failures(i) == v1::Retry::FAILURE_CONNECT;
    if (!safe) warn(absl::StrCat(path, ".failures[", i, "]"));
  }
}

}  // namespace

void FindPolicyWarnings(const std::string& path, const v1::Policy& policy, bool described,
                        const Positions& positions, const KnownParts& known, FaultList& warnings) {
  PolicyWarnings find(path, policy, positions, known, warnings);
  find.CheckAttemptTimeout(described);
  find.CheckBudget();
  find.CheckThrottle();
  find.CheckLists(path + ".retry", policy.retry());
  for (int i = 0; i < policy.retry().rules_size(); ++i) {
    find.CheckLists(absl::StrCat(path, ".retry.rules[", i, "]"), policy.retry().rules(i));
  }
}

std::string UnsafeRetries(const v1::Policy& policy) {
  const v1::Retry& retry = policy.retry();
  const bool safe = policy.idempotency().mode() != Idempotency::MODE_AUTO ||
                    policy.idempotency().has_key() || policy.has_hedge() ||
                    retry.mode() == v1::Retry::MODE_OBSERVE;
  if (safe) return "";
  if (retry.max_attempts() > 1) {
    if (retry.codes_size() > 0) return "codes";
    if (retry.http_size() > 0) return "http";
    if (ListsMaybeProcessed(retry)) return "failures";
  }
  for (const v1::RetryRule& rule : retry.rules()) {
    const int attempts = rule.has_max_attempts() ? rule.max_attempts() : retry.max_attempts();
    if (attempts > 1 && ListsMaybeProcessed(rule)) return "rules";
  }
  return "";
}

}  // namespace levee
