// SPDX-License-Identifier: Apache-2.0
#include "lab/retry_words.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "lab/words.h"

namespace levee {
namespace {

// Shares of sums are rounded: from kAll on there are no others, and below kNone there are none.
constexpr double kAll = 1 - 1e-9;
constexpr double kNone = 1e-9;
// Attempts after the first one whose share is above this are not told one by one.
constexpr double kMost = 0.9999;

// Says which attempts the total of the delays before them leaves no time for. `what`: "fit a
// deadline of 2s". `share` reads the share of a row in which its attempt does not.
template <typename Share>
void AddMisfits(const std::vector<DelayRow>& rows, const std::string& what, const Share& share,
                std::vector<std::string>& sentences) {
  const size_t before = sentences.size();
  const int last = rows.back().n + 1;
  for (const DelayRow& row : rows) {
    const int attempt = row.n + 1;
    if (share(row) > kMost) {
      const std::string attempts =
          attempt == last ? absl::StrCat("attempt ", attempt, " does not ")
                          : absl::StrCat("attempts ", attempt, " to ", last, " do not ");
      sentences.push_back(absl::StrCat(
          attempts, what, " in ", share(row) > kAll ? "any draw" : "more than 99.99% of draws"));
      break;
    }
    if (share(row) < kNone) continue;
    sentences.push_back(absl::StrCat("attempt ", attempt, " does not ", what, " in ",
                                     PercentWords(share(row)), " of draws"));
  }
  if (sentences.size() == before) {
    sentences.push_back(absl::StrCat("all ", last, " attempts ", what, " in every draw"));
  }
}

std::string SlotWords(const BackoffPolicy& backoff, int max_attempts) {
  return absl::StrFormat(
      "before retry c it waits (2^min(c, %d) - 1) / 2 slots of %s on average, rounded up to the "
      "timer's millisecond; after attempt %d the call is given up (IEEE 802.3: after attempt 16)",
      backoff.truncate, DurationWords(backoff.slot), max_attempts);
}

std::string OutageWords(const OutageLoad& load) {
  return absl::StrFormat(
      "at %s calls/s: %s retries allowed, %s of them at once; an outage of %d s gets %d "
      "attempts "
      "for %d calls (%.2f per call, %.2f in the worst second), without the budget %d",
      NumberWords(load.calls_per_second), NumberWords(load.allowed), NumberWords(load.at_once),
      kOutageSeconds, load.attempts, load.calls,
      static_cast<double>(load.attempts) / static_cast<double>(load.calls), load.worst_second,
      load.unbounded);
}

}  // namespace

std::vector<std::string> DelayWords(const DelayTable& table, const BackoffPolicy& backoff,
                                    int max_attempts, absl::Duration deadline) {
  if (table.rows.empty()) return {"nothing is retried: max_attempts is 1"};
  std::vector<std::string> sentences;
  if (backoff.kind == BackoffPolicy::Kind::kSlot) {
    sentences.push_back(SlotWords(backoff, max_attempts));
  }
  const DelayRow& last = table.rows.back();
  sentences.push_back(absl::StrCat("the delays of ", last.n, last.n == 1 ? " retry" : " retries",
                                   " add up to ", DurationWords(last.total_max),
                                   " at worst, and to ", DurationWords(last.total_p99),
                                   " in 99% of draws"));
  if (deadline == absl::InfiniteDuration()) {
    sentences.emplace_back("no deadline is known: neither --deadline nor the policy says one");
  } else {
    AddMisfits(
        table.rows, absl::StrCat("fit a deadline of ", DurationWords(deadline)),
        [](const DelayRow& row) { return row.past_deadline; }, sentences);
  }
  if (backoff.max_elapsed != absl::InfiniteDuration()) {
    AddMisfits(
        table.rows,
        absl::StrCat("start within ", DurationWords(backoff.max_elapsed), " (max_elapsed)"),
        [](const DelayRow& row) { return row.past_elapsed; }, sentences);
  }
  if (table.draws > 0) {
    sentences.push_back(
        absl::StrCat("each delay depends on the one before; percentiles and means are "
                     "those of ",
                     table.draws, " draws"));
  }
  return sentences;
}

std::vector<std::string> HedgeWords(const HedgePolicy& hedge, bool idempotent) {
  if (!idempotent) {
    return {
        "calls of this method are neither hedged nor retried: hedging needs a method whose "
        "descriptor "
        "says that it may run twice, or idempotency: {mode: always}"};
  }
  const std::string delay =
      hedge.quantile > 0 ? absl::StrFormat("p%g of what recent attempts took", 100 * hedge.quantile)
                         : DurationWords(hedge.delay);
  return {absl::StrCat("a further attempt starts beside those that have not answered after ", delay,
                       ", up to ", hedge.max_attempts, " attempts"),
          "a failure that is not fatal starts the next attempt at once; any other failure ends the "
          "call"};
}

std::vector<std::string> BudgetWords(const RetryPolicy& policy,
                                     const std::vector<OutageLoad>& loads) {
  const RetryBudgetPolicy& budget = policy.budget;
  std::vector<std::string> sentences = {absl::StrCat(
      "in ", DurationWords(budget.window), " at most ", NumberWords(budget.ratio),
      " retries per call, or ", NumberWords(budget.floor_per_second), " a second while at least ",
      PercentWords(budget.floor_min_success), " of recent attempts or retries succeed")};
  if (budget.ratio > 0) {  // Else nothing could be earned, and no retry needs a credit.
    sentences.push_back(absl::StrCat("a retry takes one credit, and gives it back if it succeeds; ",
                                     DurationWords(budget.burst_span), " of calls brings ",
                                     NumberWords(budget.ratio), " credits per call, at least ",
                                     NumberWords(budget.burst_least)));
  }
  if (budget.wait > absl::ZeroDuration()) {
    sentences.push_back(absl::StrCat(
        "while everything fails, at most ",
        NumberWords(std::max(1.0, std::floor(budget.burst_least))),
        " retries start; the last of them, and a call's last attempt, wait for a success until ",
        DurationWords(budget.wait),
        " after the first failure, or shorter if the deadline is near; after a failure to connect "
        "no retry waits"));
  }
  if (policy.mode == RetryMode::kObserve) {
    sentences.emplace_back("mode observe: retries are decided and counted, but not made");
  }
  for (const OutageLoad& load : loads) sentences.push_back(OutageWords(load));
  return sentences;
}

}  // namespace levee
