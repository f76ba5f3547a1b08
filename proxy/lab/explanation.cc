// SPDX-License-Identifier: Apache-2.0
#include "lab/explanation.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/text.h"
#include "call/plan.h"
#include "config/fault.h"
#include "config/merge.h"
#include "config/suggest.h"
#include "lab/limit_words.h"
#include "lab/retry_words.h"
#include "lab/route_trace.h"
#include "lab/words.h"

namespace levee {
namespace {

// The loads for which the budget is told, in calls a second.
constexpr double kLoads[] = {1, 10, 100, 1000};

std::optional<std::string> PathOf(const ExplainQuestion& question) {
  if (!question.method.has_value() || question.method->starts_with('/')) return question.method;
  return absl::StrCat("/", *question.method);
}

absl::StatusOr<int> FindListener(const Snapshot& snapshot, const ExplainQuestion& question) {
  std::vector<std::string> names;
  int egress = -1;
  for (size_t i = 0; i < snapshot.listeners.size(); ++i) {
    const ListenerSpec& listener = snapshot.listeners[i];
    if (question.listener == listener.name) return static_cast<int>(i);
    names.push_back(listener.name);
    if (egress < 0 && listener.direction == Direction::kEgress) egress = static_cast<int>(i);
  }
  if (!question.listener.has_value()) return std::max(egress, 0);
  return absl::NotFoundError(absl::StrCat("there is no listener ", Quoted(*question.listener),
                                          Suggestion(*question.listener, names, "there are")));
}

std::string CallWords(const Snapshot& snapshot, int listener, const ExplainQuestion& question) {
  const auto fact = [](const char* what, const std::optional<std::string>& value) {
    return value.has_value() ? absl::StrCat(what, " ", Quoted(*value)) : absl::StrCat("any ", what);
  };
  std::vector<std::string> parts = {
      absl::StrCat("listener ", Quoted(snapshot.listeners[static_cast<size_t>(listener)].name)),
      fact("authority", question.authority), fact("method", PathOf(question))};
  if (question.peer.has_value()) parts.push_back(fact("peer", question.peer));
  for (const auto& [name, value] : question.headers) {
    parts.push_back(absl::StrCat(name, ": ", Quoted(value)));
  }
  if (question.deadline != absl::InfiniteDuration()) {
    parts.push_back(absl::StrCat("deadline ", DurationWords(question.deadline)));
  }
  return absl::StrJoin(parts, ", ");
}

// Explains what follows from the policy of one route.
class PolicyExplainer {
 public:
  PolicyExplainer(const Snapshot& snapshot, const ReadConfig& complete, const Route& route,
                  const ExplainQuestion& question)
      : snapshot_(snapshot),
        complete_(complete),
        upstream_(snapshot_.upstreams[static_cast<size_t>(route.upstream)]),
        policy_(snapshot_.policies[static_cast<size_t>(route.policy)]),
        shadow_(route.shadow.has_value() ? &snapshot_.policies[static_cast<size_t>(*route.shadow)]
                                         : nullptr),
        inbound_(route.listener.direction == Direction::kInbound),
        index_(route.policy),
        call_{PathOf(question), question.authority, question.peer, question.headers},
        described_(upstream_.methods != nullptr && call_.method.has_value() &&
                   upstream_.methods->idempotent.contains(*call_.method)),
        planned_(PlanCalls(policy_, described_, route.timeout)),
        route_(route),
        kind_(upstream_.methods != nullptr && call_.method.has_value()
                  ? upstream_.methods->KindOf(*call_.method)
                  : std::nullopt),
        deadline_(std::min(question.deadline, kind_ == CallKind::kStream
                                                  ? policy_.stream.timeout
                                                  : planned_.policy->timeout)) {}

  void Explain(Explanation& to) {
    std::vector<std::string> names;
    for (const int number : route_.Upstreams()) {
      names.push_back(snapshot_.upstreams[static_cast<size_t>(number)].name);
    }
    to.upstream = absl::StrJoin(names, " or ");
    AddSection("split", SplitWords(), to);
    to.policy = policy_.name;
    to.values = ListPolicyValues(complete_, index_);
    if (!inbound_) {
      ExplainRetries(to);
      to.exhausted = TabulateExhausted(policy_.retry.exhausted, snapshot_.overload);
    }
    if (route_.timeout < policy_.timeout) {
      AddSection("timeout",
                 {absl::StrCat("the route ends unary calls after ", DurationWords(route_.timeout),
                               ", before the policy does")},
                 to);
    }
    AddSection("stream", StreamWords(), to);
    AddSection("rate limits", RateLimitWords(policy_.rate_limits, call_), to);
    AddSection("throttle", inbound_ ? std::vector<std::string>() : ThrottleWords(policy_.throttle),
               to);
    if (policy_.guard.has_value()) AddSection("guard", GuardWords(*policy_.guard, call_), to);
    AddSection("calls that run once", DedupeWords(policy_.dedupe, call_), to);
    if (shadow_ != nullptr) {
      AddSection(
          "shadow",
          {absl::StrCat("policy ", shadow_->name, " decides beside this one and does nothing; ",
                        "levee_shadow_decisions_total counts where it would have made more ",
                        "or fewer attempts")},
          to);
    }
  }

 private:
  static void AddSection(std::string title, std::vector<std::string> sentences, Explanation& to) {
    if (sentences.empty()) return;
    to.sections.push_back({std::move(title), std::move(sentences)});
  }

  // Says how the route divides its calls. All else holds for the first upstream.
  std::vector<std::string> SplitWords() const {
    if (route_.split.empty()) return {};
    std::vector<std::string> parts;
    for (const SplitPart& part : route_.split) {
      parts.push_back(absl::StrCat(snapshot_.upstreams[static_cast<size_t>(part.upstream)].name,
                                   " ", part.weight));
    }
    return {absl::StrCat("calls are divided by weights: ", absl::StrJoin(parts, ", "),
                         "; all attempts of a call go to one upstream"),
            route_.split_key.empty()
                ? "each call is drawn at random"
                : absl::StrCat("calls with the same values of ",
                               absl::StrJoin(route_.split_key, ", "), " go to the same upstream")};
  }

  // Says what bounds a stream where the policy has bounds of calls, or of streams.
  std::vector<std::string> StreamWords() const {
    const StreamPolicy& stream = policy_.stream;
    const bool bounds_streams =
        !(stream.timeout == absl::InfiniteDuration() && stream.idle == absl::InfiniteDuration());
    if (kind_ == CallKind::kUnary || (!kind_.has_value() && !bounds_streams)) return {};
    const auto bound = [](absl::Duration span) {
      return span == absl::InfiniteDuration() ? std::string("none") : DurationWords(span);
    };
    std::vector<std::string> words = {
        absl::StrCat(kind_.has_value() ? "the descriptor set says that the call is a stream: "
                                       : "if the call turns out to be a stream, ",
                     "neither timeout nor attempt_timeout ends it"),
        absl::StrCat("stream.timeout ", bound(stream.timeout), ", stream.idle ",
                     bound(stream.idle))};
    if (kind_.has_value() && policy_.guard.has_value()) {
      const ConcurrencyPolicy& concurrency = policy_.guard->concurrency;
      words.emplace_back(concurrency.streams == ConcurrencyPolicy::Streams::kCount
                             ? "it holds a slot of the guard to its end"
                             : "it takes no slot of the guard");
    }
    return words;
  }

  void ExplainRetries(Explanation& to) {
    if (policy_.hedge.has_value()) {
      AddSection("hedging", HedgeWords(*policy_.hedge, planned_.hedge != nullptr), to);
    } else {
      AddRetries("retry", policy_.retry.max_attempts, policy_.retry.backoff, to);
      const ValuesByPath values = ByPath(to.values);
      for (size_t i = 0; i < policy_.retry.rules.size(); ++i) {
        const RetryRule& rule = policy_.retry.rules[i];
        AddRetries(RuleWords(i, values), rule.max_attempts, rule.backoff, to);
      }
    }
    for (const double load : kLoads) {
      if (auto outage = SimulateOutage(policy_, described_, deadline_, load)) {
        to.outage.push_back(*outage);
      }
    }
    if (!to.outage.empty()) AddSection("budget", BudgetWords(policy_.retry, to.outage), to);
    if (planned_.idempotent && planned_.hedge == nullptr) {
      AddSection("idempotency", {"a call may run twice, so resets and timeouts are retried, too"},
                 to);
    }
  }

  // Rules are often like the one before, and a table takes long to make.
  void AddRetries(std::string what, int max_attempts, const BackoffPolicy& backoff,
                  Explanation& to) {
    if (told_ == nullptr || *told_ != backoff || to.retries.back().max_attempts != max_attempts) {
      ExplainedRetries& retries = to.retries.emplace_back();
      retries.max_attempts = max_attempts;
      retries.delays = TabulateDelays(backoff, max_attempts - 1, deadline_);
      retries.sentences = DelayWords(retries.delays, backoff, max_attempts, deadline_);
      told_ = &backoff;
    } else {
      to.retries.push_back(ExplainedRetries(to.retries.back()));
    }
    to.retries.back().what = std::move(what);
  }

  using ValuesByPath = std::multimap<std::string_view, std::string_view>;

  static ValuesByPath ByPath(const std::vector<EffectiveValue>& values) {
    ValuesByPath by_path;
    for (const EffectiveValue& value : values) by_path.emplace(value.path, value.value);
    return by_path;
  }

  // Names a rule with the outcomes that it is for.
  static std::string RuleWords(size_t rule, const ValuesByPath& values) {
    const std::string path = absl::StrCat("retry.rules[", rule, "]");
    std::vector<std::string> outcomes;
    for (const char* list : {"codes", "http", "failures"}) {
      const auto [first, end] = values.equal_range(absl::StrCat(path, ".", list));
      for (auto value = first; value != end; ++value) {
        outcomes.push_back(absl::StrCat(list, " ", Abseil(value->second)));
      }
    }
    return absl::StrCat(path, ": ", absl::StrJoin(outcomes, ", "));
  }

  const Snapshot& snapshot_;
  const ReadConfig& complete_;
  const UpstreamSpec& upstream_;
  const CallPolicy& policy_;
  const CallPolicy* const shadow_;  // nullptr: the route has none
  const bool inbound_;
  const int index_;  // of the policy
  const KeyFacts call_;
  const bool described_;  // as idempotent
  const PlannedPolicy planned_;
  const Route& route_;
  const std::optional<CallKind> kind_;  // by the descriptor set
  const absl::Duration deadline_;
  const BackoffPolicy* told_ = nullptr;  // of the last of the retries
};

}  // namespace

std::vector<std::string> Explanation::AllSentences() const {
  std::vector<std::string> all;
  for (const ExplainedRetries& each : retries) {
    all.insert(all.end(), each.sentences.begin(), each.sentences.end());
  }
  for (const ExplainedSection& section : sections) {
    all.insert(all.end(), section.sentences.begin(), section.sentences.end());
  }
  return all;
}

std::string Explanation::Fate() const {
  if (!routed) return "no route matches: the call is answered UNIMPLEMENTED";
  if (denied) return "the route denies the call: it is answered PERMISSION_DENIED";
  return absl::StrCat("upstream ", upstream, ", policy ", policy);
}

absl::StatusOr<Explanation> Explain(const Snapshot& snapshot, const ReadConfig& complete,
                                    const ExplainQuestion& question) {
  const absl::StatusOr<int> listener = FindListener(snapshot, question);
  if (!listener.ok()) return listener.status();
  Explanation explanation;
  explanation.call = CallWords(snapshot, *listener, question);
  const Direction direction = snapshot.listeners[static_cast<size_t>(*listener)].direction;
  const std::optional<std::string> path = PathOf(question);
  Metadata head;
  for (const auto& [name, value] : question.headers) head.Add(name, value);
  const std::vector<RouteStep> steps = TraceRoutes(snapshot, {.listener = {*listener, direction},
                                                              .authority = question.authority,
                                                              .path = path,
                                                              .peer = question.peer,
                                                              .headers = head});
  for (const RouteStep& step : steps) {
    const std::string place = absl::StrCat("routes[", step.route, "]");
    explanation.routes.push_back(
        {place, complete.positions.OriginOf(place), step.serves, step.because});
  }
  explanation.routed = !steps.empty() && steps.back().because.empty();
  if (!explanation.routed) return explanation;
  const Route& route = snapshot.routes.routes()[static_cast<size_t>(steps.back().route)];
  explanation.denied = route.deny;
  if (explanation.denied) return explanation;
  PolicyExplainer(snapshot, complete, route, question).Explain(explanation);
  return explanation;
}

}  // namespace levee
