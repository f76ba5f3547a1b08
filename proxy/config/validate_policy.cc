// SPDX-License-Identifier: Apache-2.0
#include "config/validate_policy.h"

#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "config/rate_limit_text.h"
#include "config/values.h"

namespace levee {
namespace {

namespace v1 = config::v1;

class PolicyValidator {
 public:
  PolicyValidator(const Positions& positions, FaultList& faults)
      : positions_(positions), faults_(faults) {}

  template <typename Message>
  void CheckMax(const std::string& path, const Message& backoff);
  void CheckBackoff(const std::string& path, const v1::Backoff& backoff);
  void CheckRule(const std::string& path, const v1::RetryRule& rule);
  void CheckHedge(const std::string& path, const v1::Policy& policy);
  void CheckDedupe(const std::string& path, const v1::Guard::Dedupe& dedupe);
  void CheckRateLimit(const std::string& path, const v1::RateLimit& limit);

 private:
  void Add(const std::string& path, CheckCode code, std::string text) {
    faults_.Add(positions_.Find(path), code, std::move(text));
  }
  // Returns "f:5:14", for a second place in a fault that already names its field.
  std::string At(const std::string& path) const {
    Place place = positions_.Find(path);
    place.path.clear();
    return FormatPlace(place);
  }
  std::string Origin(const std::string& message, const char* field) const;
  using KeyParts = google::protobuf::RepeatedPtrField<std::string>;
  void CheckKey(const std::string& path, const KeyParts& key);

  const Positions& positions_;
  FaultList& faults_;
};

// Returns the origin of a value that the user did not give.
std::string PolicyValidator::Origin(const std::string& message, const char* field) const {
  if (positions_.Has(absl::StrCat(message, ".", field))) return "";
  return positions_.Has(message + ".preset") ? " (the preset's)" : " (the default)";
}

// `backoff`: a Backoff or a Reconnect.
template <typename Message>
void PolicyValidator::CheckMax(const std::string& path, const Message& backoff) {
  const absl::StatusOr<absl::Duration> initial = ParseDuration(backoff.initial());
  const absl::StatusOr<absl::Duration> max = ParseDuration(backoff.max());
  if (!initial.ok() || !max.ok() || *max >= *initial || *max <= absl::ZeroDuration()) return;
  if (positions_.Has(path + ".max")) {
    Add(path + ".max", CheckCode::kMaxBelowInitial,
        absl::StrCat(backoff.max(), " is below initial, ", backoff.initial(),
                     Origin(path, "initial"), "; it must be at least that"));
  } else {
    Add(path + ".initial", CheckCode::kMaxBelowInitial,
        absl::StrCat(backoff.initial(), " is above max, ", backoff.max(), Origin(path, "max"),
                     "; it must be at most that"));
  }
}

void PolicyValidator::CheckBackoff(const std::string& path, const v1::Backoff& backoff) {
  // Beside a preset that could not be read, it is not known which values are missing.
  if (!positions_.Broken(path + ".preset")) CheckMax(path, backoff);
  const std::string schedule = path + ".schedule";
  if (positions_.Has(schedule) && !positions_.Broken(schedule) && backoff.schedule_size() == 0) {
    Add(schedule, CheckCode::kEmptyList, "is empty; give at least one delay");
  }
}

void PolicyValidator::CheckRule(const std::string& path, const v1::RetryRule& rule) {
  if (positions_.Broken(path)) return;
  bool matches = rule.codes_size() + rule.http_size() + rule.failures_size() > 0;
  for (const char* list : {".codes", ".http", ".failures"}) {
    matches |= positions_.Broken(path + list);
  }
  if (!matches)
    Add(path, CheckCode::kRuleMatchesNothing, "matches nothing; give it codes, http or failures");
  CheckBackoff(path + ".backoff", rule.backoff());
}

void PolicyValidator::CheckHedge(const std::string& path, const v1::Policy& policy) {
  if (!policy.has_hedge()) return;
  const std::string hedge = "hedge at " + At(path + ".hedge");
  if (policy.retry().max_attempts() > 1) {
    Add(path + ".retry.max_attempts", CheckCode::kBesideHedge,
        absl::StrCat(policy.retry().max_attempts(), " is too large beside ", hedge,
                     "; hedged calls are not retried: say 1, or leave one of the two out"));
  }
  if (policy.retry().rules_size() > 0) {
    Add(path + ".retry.rules", CheckCode::kBesideHedge,
        absl::StrCat("has no effect beside ", hedge,
                     "; hedged calls are not retried: leave one of the two out"));
  }
  if (policy.idempotency().mode() == v1::Idempotency::MODE_NEVER) {
    Add(path + ".idempotency.mode", CheckCode::kBesideHedge,
        absl::StrCat("never rules out ", hedge,
                     ", which may run a call twice; say auto or always, or leave hedge out"));
  }
}

void PolicyValidator::CheckKey(const std::string& path, const KeyParts& key) {
  std::map<std::string, std::string> paths;  // by part of the key
  for (int i = 0; i < key.size(); ++i) {
    const std::string part = absl::StrCat(path, "[", i, "]");
    const auto [first, is_new] = paths.emplace(key[i], part);
    if (is_new || key[i].empty()) continue;
    Add(part, CheckCode::kKeyPartTwice,
        absl::StrCat(Quoted(key[i]), " is given twice; first at ", At(first->second)));
  }
}

void PolicyValidator::CheckDedupe(const std::string& path, const v1::Guard::Dedupe& dedupe) {
  CheckKey(path + ".scope", dedupe.scope());
  const absl::StatusOr<int64_t> answer = ParseSize(dedupe.max_response());
  const absl::StatusOr<int64_t> all = ParseSize(dedupe.max_bytes());
  if (!answer.ok() || !all.ok() || *answer <= *all) return;
  const char* const given = positions_.Has(path + ".max_response") ? ".max_response" : ".max_bytes";
  Add(path + given, CheckCode::kOutOfRange,
      absl::StrCat("max_response, ", dedupe.max_response(), ", is more than max_bytes, ",
                   dedupe.max_bytes(), ", so that such an answer is never kept"));
}

// Keeps rate and burst within the bounds that the limits' arithmetic needs, too.
void PolicyValidator::CheckRateLimit(const std::string& path, const v1::RateLimit& limit) {
  CheckKey(path + ".key", limit.key());
  const absl::StatusOr<Rate> rate = ParseRate(limit.rate());
  if (!rate.ok() || rate->count <= 0 || limit.burst() < 1) return;
  constexpr double kYear = 8760 * 3600;
  if (limit.burst() / rate->per_second() <= kYear) return;
  Add(path + ".rate", CheckCode::kRateTooLowForBurst,
      absl::StrCat(limit.rate(), " takes more than 8760h for a burst of ", limit.burst(),
                   "; raise it or lower burst"));
}

}  // namespace

void ValidatePolicy(const std::string& path, const v1::Policy& policy, const Positions& positions,
                    FaultList& faults) {
  PolicyValidator validator(positions, faults);
  validator.CheckBackoff(path + ".retry.backoff", policy.retry().backoff());
  for (int i = 0; i < policy.retry().rules_size(); ++i) {
    validator.CheckRule(absl::StrCat(path, ".retry.rules[", i, "]"), policy.retry().rules(i));
  }
  validator.CheckHedge(path, policy);
  if (policy.guard().has_dedupe()) {
    validator.CheckDedupe(path + ".guard.dedupe", policy.guard().dedupe());
  }
  for (int i = 0; i < policy.rate_limit_size(); ++i) {
    validator.CheckRateLimit(absl::StrCat(path, ".rate_limit[", i, "]"), policy.rate_limit(i));
  }
}

void ValidateReconnect(const std::string& path, const v1::Reconnect& reconnect,
                       const Positions& positions, FaultList& faults) {
  PolicyValidator(positions, faults).CheckMax(path, reconnect);
}

}  // namespace levee
