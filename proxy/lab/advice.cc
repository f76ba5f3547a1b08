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

// A percentile or a share of less evidence than this says nothing.
constexpr size_t kEnoughCalls = 1000;
constexpr int64_t kEnoughRetries = 20;

constexpr double kLeastRescueOfACode = 0.05;
constexpr double kLeastRescueOfAnAttempt = 0.001;
constexpr absl::Duration kWindow = absl::Seconds(10);  // of the retry budget

using Calls = std::vector<const RecordedCall*>;

double Ratio(int64_t part, int64_t whole) {
  return static_cast<double>(part) / static_cast<double>(whole);
}

double Quantile(std::vector<double>& values, double p) {
  const auto rank = static_cast<std::ptrdiff_t>(p * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), values.begin() + rank, values.end());
  return values[static_cast<size_t>(rank)];
}

std::vector<double> GoodMilliseconds(const Calls& calls) {
  std::vector<double> good;
  for (const RecordedCall* call : calls) {
    for (const RecordedAttempt& attempt : call->attempts) {
      if (attempt.code == StatusCode::kOk) good.push_back(absl::ToDoubleMilliseconds(attempt.took));
    }
  }
  return good;
}

std::string WholeMs(double ms) {
  return absl::StrCat(static_cast<int64_t>(std::max(std::ceil(ms), 1.0)), "ms");
}

void AdviseTimes(const Calls& calls, const CallPolicy& policy, std::vector<AdviceLine>& lines) {
  std::vector<double> good = GoodMilliseconds(calls);
  if (good.size() < kEnoughCalls) return;
  const std::string of = absl::StrCat(" of ", good.size(), " good attempts is ");
  const double p995 = Quantile(good, 0.995);
  if (absl::Milliseconds(std::ceil(p995)) < policy.retry.attempt_timeout &&
      policy.retry.max_attempts > 1) {
    lines.push_back({"retry.attempt_timeout", WholeMs(p995),
                     absl::StrCat("p99.5", of, DurationWords(absl::Milliseconds(p995)))});
  }
  if (!policy.hedge.has_value() || policy.hedge->quantile > 0) return;
  const double p95 = Quantile(good, 0.95);
  if (absl::Milliseconds(std::ceil(p95)) == policy.hedge->delay) return;
  lines.push_back({"hedge.delay", WholeMs(p95),
                   absl::StrCat("p95", of, DurationWords(absl::Milliseconds(p95)))});
}

void AdviseCodes(const Calls& calls, const CallPolicy& policy, std::vector<AdviceLine>& lines) {
  struct Retries {
    int64_t made = 0;
    int64_t rescued = 0;
  };
  std::map<StatusCode, Retries> after;
  for (const RecordedCall* call : calls) {
    for (size_t i = 1; i < call->attempts.size(); ++i) {
      Retries& retries = after[call->attempts[i - 1].code];
      ++retries.made;
      retries.rescued += call->attempts[i].code == StatusCode::kOk;
    }
  }
  std::vector<std::string> kept;
  std::vector<std::string> evidence;
  for (int number = 1; number < kStatusCodes; ++number) {
    const auto code = static_cast<StatusCode>(number);
    if (!policy.retry.codes.Has(code)) continue;
    const Retries& retries = after[code];
    const bool useless = retries.made >= kEnoughRetries &&
                         Ratio(retries.rescued, retries.made) < kLeastRescueOfACode;
    if (!useless) {
      kept.emplace_back(StatusCodeName(code));
      continue;
    }
    evidence.push_back(absl::StrCat("of ", retries.made, " retries after ",
                                    std::string(StatusCodeName(code)), " ", retries.rescued,
                                    " succeeded"));
  }
  if (evidence.empty()) return;
  lines.push_back({"retry.codes", absl::StrCat("[", absl::StrJoin(kept, ", "), "]"),
                   absl::StrJoin(evidence, "; ")});
}

void AdviseAttempts(const Calls& calls, const CallPolicy& policy, std::vector<AdviceLine>& lines) {
  std::map<size_t, int64_t> rescued;  // by the number of the attempt that did it
  int64_t first_failed = 0;
  for (const RecordedCall* call : calls) {
    if (call->attempts.empty() || call->attempts.front().code == StatusCode::kOk) continue;
    ++first_failed;
    if (call->code == StatusCode::kOk) ++rescued[call->attempts.size()];
  }
  if (calls.size() < kEnoughCalls || first_failed < kEnoughRetries) return;
  const auto count = static_cast<int64_t>(calls.size());
  int most = policy.retry.max_attempts;
  while (most > 1 && Ratio(rescued[static_cast<size_t>(most)], count) < kLeastRescueOfAnAttempt) {
    --most;
  }
  if (most == policy.retry.max_attempts) return;
  lines.push_back({"retry.max_attempts", absl::StrCat(most),
                   absl::StrCat("attempt ", most + 1, " rescued ",
                                rescued[static_cast<size_t>(most) + 1], " of ", count, " calls")});
}

void AdviseBuffer(const Calls& calls, const CallPolicy& policy, std::vector<AdviceLine>& lines) {
  std::vector<double> sizes;
  for (const RecordedCall* call : calls) {
    sizes.push_back(static_cast<double>(call->request_bytes));
  }
  if (sizes.size() < kEnoughCalls) return;
  const double p999 = Quantile(sizes, 0.999);
  constexpr double kMost = 4 << 20;
  if (p999 <= static_cast<double>(policy.retry.buffer_bytes) || p999 > kMost) return;
  double kib = 1;
  while (kib * 1024 < p999) kib *= 2;
  lines.push_back({"retry.buffer", absl::StrCat(static_cast<int64_t>(kib), "KiB"),
                   absl::StrCat("p99.9 of the request sizes is ", NumberWords(p999), " bytes")});
}

// The greatest share of retries in a window, as the budget counts them.
void AdviseRatio(const Calls& calls, const CallPolicy& policy, std::vector<AdviceLine>& lines) {
  std::map<int64_t, std::pair<int64_t, int64_t>> windows;  // calls and retries
  for (const RecordedCall* call : calls) {
    auto& [made, retries] = windows[(call->at - absl::UnixEpoch()) / kWindow];
    ++made;
    retries += std::max<int64_t>(static_cast<int64_t>(call->attempts.size()) - 1, 0);
  }
  double worst = 0;
  for (const auto& [number, window] : windows) {
    if (window.first < static_cast<int64_t>(kEnoughCalls) / 10) continue;
    worst = std::max(worst, Ratio(window.second, window.first));
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
    each.calls = static_cast<int64_t>(of.size());
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
    absl::StrAppend(&text, "# ", each.calls, " calls with the policy ", each.policy, ": ");
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
