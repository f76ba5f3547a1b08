// SPDX-License-Identifier: Apache-2.0
#include "lab/limit_words.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "config/fault.h"
#include "lab/words.h"
#include "wire/priority.h"

namespace levee {
namespace {

std::optional<std::string> HeaderOf(const KeyFacts& call, std::string_view name) {
  const auto found = std::find_if(call.headers.begin(), call.headers.end(),
                                  [name](const auto& header) { return header.first == name; });
  if (found == call.headers.end()) return std::nullopt;
  return found->second;
}

std::optional<std::string> ValueOf(const RateLimitKey& key, const KeyFacts& call) {
  switch (key.part()) {
    case RateLimitKey::Part::kMethod:
      return call.method;
    case RateLimitKey::Part::kAuthority:
      return call.authority;
    case RateLimitKey::Part::kPeer:
      return call.peer;
    case RateLimitKey::Part::kHeader:
      return HeaderOf(call, key.header());
    case RateLimitKey::Part::kText:
      return std::string(key.text());
  }
  return std::nullopt;
}

std::string RateWords(const RateLimitPolicy& limit) {
  if (!limit.shared.has_value() || !limit.shared->service.has_value()) {
    return absl::StrCat(NumberWords(limit.per_second), "/s, ", limit.burst,
                        " at once after a quiet time");
  }
  const RateService& service = *limit.shared->service;
  return absl::StrCat("as much as the rate limit service at ", service.host, ":", service.port,
                      " grants in its domain ", service.domain, "; if it does not answer within ",
                      DurationWords(limit.shared->timeout), ", calls are ",
                      limit.shared->away == StoreAway::kAllow ? "admitted" : "refused");
}

std::string BucketWords(const RateLimitPolicy& limit, const KeyFacts& call) {
  if (limit.key.empty()) return "all calls share one bucket";
  std::vector<std::string> names;
  std::vector<std::string> values;
  for (const RateLimitKey& key : limit.key) {
    names.push_back(key.name());
    const std::optional<std::string> value = ValueOf(key, call);
    values.push_back(
        absl::StrCat(key.name(), " ", value.has_value() ? Quoted(*value) : "not given"));
  }
  return absl::StrCat("a bucket for each ", ListWords(names), ", at most ", limit.max_keys,
                      " (this call: ", absl::StrJoin(values, ", "), ")");
}

std::string ConcurrencyWords(const ConcurrencyPolicy& concurrency) {
  switch (concurrency.kind) {
    case ConcurrencyPolicy::Kind::kNone:
      return "the application gets all calls that come, however many";
    case ConcurrencyPolicy::Kind::kFixed:
      return absl::StrCat("the application gets ", concurrency.fixed, " calls at a time");
    case ConcurrencyPolicy::Kind::kAdaptive:
      return absl::StrCat(
          "the application gets as many calls at a time as it serves without each "
          "taking longer: ",
          concurrency.adaptive.initial, " at first, from ", concurrency.adaptive.min, " to ",
          concurrency.adaptive.max);
  }
  return "";
}

std::string QueueWords(const QueuePolicy& queue) {
  if (queue.max == 0) return "a call that finds no slot is refused at once";
  const std::string places =
      queue.max == QueuePolicy::kAuto
          ? "eight times as many calls as have a slot, and fewer if the queue lasts,"
          : absl::StrCat(queue.max, " calls");
  return absl::StrCat("up to ", places, " wait for a slot; once it has not been empty for ",
                      DurationWords(queue.interval),
                      ", the newest goes first and none waits longer "
                      "than ",
                      DurationWords(queue.target));
}

std::string PriorityWords(const GuardPolicy& guard, const KeyFacts& call) {
  const std::optional<std::string> header = HeaderOf(call, guard.priority_header);
  const auto given = header.has_value() ? ParsePriority(*header) : std::nullopt;
  const int number = given.has_value() ? given->number : guard.default_priority;
  return absl::StrCat("calls of a higher number in ", guard.priority_header,
                      " are refused first; this call has ", number,
                      given.has_value() ? "" : ", the default");
}

}  // namespace

std::vector<std::string> RateLimitWords(const std::vector<RateLimitPolicy>& limits,
                                        const KeyFacts& call) {
  std::vector<std::string> sentences;
  for (const RateLimitPolicy& limit : limits) {
    std::string over =
        limit.max_wait > absl::ZeroDuration()
            ? absl::StrCat("a call above it waits up to ", DurationWords(limit.max_wait),
                           " in order, and then gets ")
            : "a call above it gets ";
    absl::StrAppend(&over, "RESOURCE_EXHAUSTED with the time to the next permit");
    if (limit.adaptive) {
      absl::StrAppend(&over, "; answers of RESOURCE_EXHAUSTED lower the rate for a while");
    }
    sentences.push_back(absl::StrCat(limit.name, ": ", RateWords(limit), "; ",
                                     BucketWords(limit, call), "; ", over));
  }
  return sentences;
}

std::vector<std::string> ThrottleWords(const std::optional<ThrottlePolicy>& throttle) {
  if (!throttle.has_value()) return {};
  const char* act = throttle->mode == ThrottleMode::kEnforce
                        ? "are answered \"overloaded, do not retry\" at once"
                        : "are counted, but sent (mode: observe)";
  return {absl::StrCat("calls beyond ", NumberWords(throttle->k),
                       " for each that an overloaded upstream accepts, within ",
                       DurationWords(throttle->window), " and from ", throttle->min_calls,
                       " calls on, ", act)};
}

std::vector<std::string> GuardWords(const GuardPolicy& guard, const KeyFacts& call) {
  std::vector<std::string> sentences = {ConcurrencyWords(guard.concurrency)};
  if (guard.concurrency.kind != ConcurrencyPolicy::Kind::kNone) {
    sentences.push_back(QueueWords(guard.queue));
    sentences.push_back(PriorityWords(guard, call));
    sentences.push_back(absl::StrCat("a refusal has the scope service if more than ",
                                     PercentWords(guard.scope.retries), " of at least ",
                                     guard.scope.min_calls,
                                     " calls in 10 s were retries, else endpoint: another "
                                     "instance may be tried"));
  }
  if (guard.observe) sentences.emplace_back("mode observe: nothing is refused, it is only counted");
  return sentences;
}

std::vector<std::string> DedupeWords(const std::optional<DedupePolicy>& dedupe,
                                     const KeyFacts& call) {
  if (!dedupe.has_value()) return {};
  const std::optional<std::string> key = HeaderOf(call, dedupe->header);
  std::vector<std::string> scope;
  for (const RateLimitKey& part : dedupe->scope) scope.push_back(part.name());
  std::vector<std::string> sentences = {absl::StrCat(
      "calls with one ", dedupe->header, scope.empty() ? "" : " and the same ", ListWords(scope),
      " run once (this call: ", key.has_value() ? Quoted(*key) : "no key",
      key.has_value()    ? ")"
      : dedupe->required ? ", it is refused)"
                         : ", it runs)")};
  sentences.push_back(absl::StrCat(
      "one that is repeated within ", DurationWords(dedupe->ttl),
      dedupe->duplicate == DedupePolicy::Duplicate::kReplay ? " gets the stored answer"
                                                            : " is refused with ALREADY_EXISTS",
      "; while the first runs, it ",
      dedupe->in_flight == DedupePolicy::InFlight::kWait ? "waits" : "is refused with ABORTED"));
  sentences.push_back(absl::StrCat(
      "if the first was lost, ", DurationWords(dedupe->claim), " after its begin it ",
      dedupe->on_lost == DedupePolicy::Lost::kRefuse ? "is refused with FAILED_PRECONDITION"
                                                     : "runs, maybe for the second time"));
  return sentences;
}

}  // namespace levee
