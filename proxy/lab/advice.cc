// SPDX-License-Identifier: Apache-2.0
#include "lab/advice.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "lab/words.h"

namespace levee {
namespace {

// A percentile or a share of less evidence than this says nothing. Of a sampled log that is what it
// has, and not what this stands for.
constexpr int64_t kEnoughCalls = 1000;
constexpr int64_t kEnoughRetries = 20;
constexpr int64_t kEnoughCallsInAWindow = 100;

constexpr double kLeastRescueOfACode = 0.05;
constexpr double kLeastRescueOfAnAttempt = 0.001;
constexpr absl::Duration kWindow = absl::Seconds(10);  // of the retry budget

using Calls = std::vector<const RecordedCall*>;

// Calls, attempts or retries of a log, and what they stand for if it is sampled.
struct Evidence {
  int64_t logged = 0;
  double all = 0;

  void Add(const RecordedCall& of, int64_t count = 1) {
    logged += count;
    all += static_cast<double>(count) / of.sample;
  }
  std::string Words() const { return absl::StrCat(std::llround(all)); }
};

double Share(const Evidence& part, const Evidence& whole) { return part.all / whole.all; }

// Values, each of which stands for others like it.
class Values {
 public:
  void Add(const RecordedCall& of, double value) {
    values_.push_back({value, 1 / of.sample});
    count_.Add(of);
  }
  const Evidence& count() const { return count_; }

  // Returns the value that a share `p` of all are at or below. There is one at least.
  double Quantile(double p) {
    std::sort(values_.begin(), values_.end(),
              [](const Value& a, const Value& b) { return a.value < b.value; });
    const auto count = static_cast<double>(values_.size());
    const double below = p * count_.all * (count - 1) / count;
    double sum = 0;
    for (const Value& each : values_) {
      sum += each.stands_for;
      if (sum > below) return each.value;
    }
    return values_.back().value;
  }

 private:
  struct Value {
    double value;
    double stands_for;
  };

  std::vector<Value> values_;
  Evidence count_;
};

Values GoodMilliseconds(const Calls& calls) {
  Values good;
  for (const RecordedCall* call : calls) {
    for (const RecordedAttempt& attempt : call->attempts) {
      if (attempt.code == StatusCode::kOk) {
        good.Add(*call, absl::ToDoubleMilliseconds(attempt.took));
      }
    }
  }
  return good;
}

std::string WholeMs(double ms) {
  return absl::StrCat(static_cast<int64_t>(std::max(std::ceil(ms), 1.0)), "ms");
}

void AdviseTimes(const Calls& calls, const CallPolicy& policy, std::vector<AdviceLine>& lines) {
  Values good = GoodMilliseconds(calls);
  if (good.count().logged < kEnoughCalls) return;
  const std::string of = absl::StrCat(" of ", good.count().Words(), " good attempts is ");
  const double p995 = good.Quantile(0.995);
  if (absl::Milliseconds(std::ceil(p995)) < policy.retry.attempt_timeout &&
      policy.retry.max_attempts > 1) {
    lines.push_back({"retry.attempt_timeout", WholeMs(p995),
                     absl::StrCat("p99.5", of, DurationWords(absl::Milliseconds(p995)))});
  }
  if (!policy.hedge.has_value() || policy.hedge->quantile > 0) return;
  const double p95 = good.Quantile(0.95);
  if (absl::Milliseconds(std::ceil(p95)) == policy.hedge->delay) return;
  lines.push_back({"hedge.delay", WholeMs(p95),
                   absl::StrCat("p95", of, DurationWords(absl::Milliseconds(p95)))});
}

void AdviseCodes(const Calls& calls, const CallPolicy& policy, std::vector<AdviceLine>& lines) {
  struct Retries {
    Evidence made;
    Evidence rescued;
  };
  std::map<StatusCode, Retries> after;
  for (const RecordedCall* call : calls) {
    for (size_t i = 1; i < call->attempts.size(); ++i) {
      Retries& retries = after[call->attempts[i - 1].code];
      retries.made.Add(*call);
      if (call->attempts[i].code == StatusCode::kOk) retries.rescued.Add(*call);
    }
  }
  std::vector<std::string> kept;
  std::vector<std::string> evidence;
  for (int number = 1; number < kStatusCodes; ++number) {
    const auto code = static_cast<StatusCode>(number);
    if (!policy.retry.codes.Has(code)) continue;
    const Retries& retries = after[code];
    const bool useless = retries.made.logged >= kEnoughRetries &&
                         Share(retries.rescued, retries.made) < kLeastRescueOfACode;
    if (!useless) {
      kept.emplace_back(StatusCodeName(code));
      continue;
    }
    evidence.push_back(absl::StrCat("of ", retries.made.Words(), " retries after ",
                                    std::string(StatusCodeName(code)), " ", retries.rescued.Words(),
                                    " succeeded"));
  }
  if (evidence.empty()) return;
  lines.push_back({"retry.codes", absl::StrCat("[", absl::StrJoin(kept, ", "), "]"),
                   absl::StrJoin(evidence, "; ")});
}

void AdviseAttempts(const Calls& calls, const CallPolicy& policy, std::vector<AdviceLine>& lines) {
  std::map<size_t, Evidence> rescued;  // by the number of the attempt that did it
  Evidence all;
  Evidence first_failed;
  for (const RecordedCall* call : calls) {
    all.Add(*call);
    if (call->attempts.empty() || call->attempts.front().code == StatusCode::kOk) continue;
    first_failed.Add(*call);
    if (call->code == StatusCode::kOk) rescued[call->attempts.size()].Add(*call);
  }
  if (all.logged < kEnoughCalls || first_failed.logged < kEnoughRetries) return;
  int most = policy.retry.max_attempts;
  while (most > 1 && Share(rescued[static_cast<size_t>(most)], all) < kLeastRescueOfAnAttempt) {
    --most;
  }
  if (most == policy.retry.max_attempts) return;
  lines.push_back({"retry.max_attempts", absl::StrCat(most),
                   absl::StrCat("attempt ", most + 1, " rescued ",
                                rescued[static_cast<size_t>(most) + 1].Words(), " of ", all.Words(),
                                " calls")});
}

void AdviseBuffer(const Calls& calls, const CallPolicy& policy, std::vector<AdviceLine>& lines) {
  Values sizes;
  for (const RecordedCall* call : calls) {
    sizes.Add(*call, static_cast<double>(call->request_bytes));
  }
  if (sizes.count().logged < kEnoughCalls) return;
  const double p999 = sizes.Quantile(0.999);
  constexpr double kMost = 4 << 20;
  if (p999 <= static_cast<double>(policy.retry.buffer_bytes) || p999 > kMost) return;
  double kib = 1;
  while (kib * 1024 < p999) kib *= 2;
  lines.push_back({"retry.buffer", absl::StrCat(static_cast<int64_t>(kib), "KiB"),
                   absl::StrCat("p99.9 of the request sizes is ", NumberWords(p999), " bytes")});
}

// The greatest share of retries in a window, as the budget counts them.
void AdviseRatio(const Calls& calls, const CallPolicy& policy, std::vector<AdviceLine>& lines) {
  struct Window {
    Evidence made;
    Evidence retries;
  };
  std::map<int64_t, Window> windows;
  for (const RecordedCall* call : calls) {
    Window& window = windows[(call->at - absl::UnixEpoch()) / kWindow];
    window.made.Add(*call);
    window.retries.Add(*call,
                       std::max<int64_t>(static_cast<int64_t>(call->attempts.size()) - 1, 0));
  }
  double worst = 0;
  for (const auto& [number, window] : windows) {
    if (window.made.logged < kEnoughCallsInAWindow) continue;
    worst = std::max(worst, Share(window.retries, window.made));
  }
  const double ratio = std::max(std::ceil(worst * 100) / 100, 0.01);
  if (worst == 0 || ratio > policy.retry.budget.ratio / 2) return;
  lines.push_back({"retry.budget.ratio", NumberWords(ratio),
                   absl::StrCat("the most that was used in 10s is ", PercentWords(worst))});
}

// Appends the lines as a mapping; fields with a common parent stand together.
void AppendFields(const std::vector<AdviceLine>& lines, std::string& text) {
  std::vector<std::string> open;
  for (const AdviceLine& line : lines) {
    std::vector<std::string> parts = absl::StrSplit(line.field, '.');
    size_t same = 0;
    while (same < open.size() && same + 1 < parts.size() && open[same] == parts[same]) ++same;
    open.assign(parts.begin(), parts.end() - 1);
    for (; same + 1 < parts.size(); ++same) {
      absl::StrAppend(&text, std::string(4 + 2 * same, ' '), parts[same], ":\n");
    }
    const std::string indent(4 + 2 * same, ' ');
    absl::StrAppend(&text, indent, "# ", line.evidence, "\n", indent, parts.back(), ": ",
                    line.value, "\n");
  }
}

}  // namespace

std::vector<PolicyAdvice> Advise(const std::vector<RecordedCall>& calls, const Snapshot& snapshot) {
  std::map<int, Calls> by_policy;
  for (const RecordedCall& call : calls) {
    const Route* const route = RouteOf(call, snapshot);
    if (route != nullptr) by_policy[route->policy].push_back(&call);
  }
  std::vector<PolicyAdvice> advice;
  for (const auto& [index, of] : by_policy) {
    const CallPolicy& policy = snapshot.policies[static_cast<size_t>(index)];
    PolicyAdvice& each = advice.emplace_back();
    each.policy = policy.name;
    Evidence all;
    for (const RecordedCall* call : of) all.Add(*call);
    each.calls = std::llround(all.all);
    each.logged = all.logged;
    // Fields of one parent stand beside one another.
    AdviseTimes(of, policy, each.lines);
    AdviseCodes(of, policy, each.lines);
    AdviseAttempts(of, policy, each.lines);
    AdviseBuffer(of, policy, each.lines);
    AdviseRatio(of, policy, each.lines);
    std::stable_sort(each.lines.begin(), each.lines.end(),
                     [](const AdviceLine& a, const AdviceLine& b) {
                       return a.field.substr(0, 5) < b.field.substr(0, 5);
                     });
  }
  return advice;
}

std::string AdviceText(const std::vector<PolicyAdvice>& advice, const std::string& replay) {
  std::string text;
  for (const PolicyAdvice& each : advice) {
    absl::StrAppend(&text, "# ", each.calls, " calls with the policy ", each.policy);
    if (each.logged != each.calls) {
      absl::StrAppend(&text, ", of which the log has ", each.logged);
    }
    absl::StrAppend(&text, ": ");
    if (each.lines.empty()) {
      absl::StrAppend(&text, "nothing to change\n");
      continue;
    }
    absl::StrAppend(&text, "put this into it\npolicies:\n  - name: ", each.policy, "\n");
    AppendFields(each.lines, text);
  }
  absl::StrAppend(&text, "# Then: ", replay, "\n");
  return text;
}

}  // namespace levee
