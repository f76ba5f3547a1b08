// SPDX-License-Identifier: Apache-2.0
// The last five minutes of every upstream, second by second.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "telemetry/guard_state.h"
#include "telemetry/histogram.h"
#include "telemetry/metrics.h"
#include "telemetry/upstream_totals.h"

namespace levee {

// The state of an upstream's retry budget. An upstream can have several budgets (one for each
// destination and policy); this is the one that has the fewest retries left.
struct BudgetState {
  double available = 0;
  double at_once = 0;  // what `available` is at most
  double limit = 0;
  double ratio = 0;  // the largest of the upstream's
  bool floor_withheld = false;
  int64_t waiting = 0;  // retries that wait to be paid for, of all the upstream's budgets

  bool operator==(const BudgetState&) const = default;
};

// The calls and attempts of one second.
struct HistorySample {
  uint32_t second = 0;   // counted from the start
  UpstreamTotals added;  // without the upstream's name
  BudgetState budget;    // at its end
  // The probability with which the throttle rejects a call at its end, or would reject it.
  double throttle_probability = 0;
  std::optional<GuardState> guard;  // at its end; none: nothing guards the upstream
};

// Not thread-safe: the owner adds a sample once a second and answers readers under a lock of its
// own. The class reads no clock.
//
// A second in which something happened takes about 100 bytes. A row of seconds in which nothing
// happened takes as much as one second. The history keeps at most kMaxStretches of these; with more
// than some three hundred upstreams that are never idle it reaches less far back, but never less
// than kLeastSeconds.
class History {
 public:
  static constexpr int kSeconds = 300;
  static constexpr int kLeastSeconds = 10;
  static constexpr size_t kMaxStretches = 100'000;

  // Notes the state of the counters at second `second`, before the first Add or after a pause. The
  // calls that were counted by then are part of no sample.
  void Begin(uint32_t second, const std::vector<UpstreamTotals>& totals);

  // Adds the sample of second `second`: `totals`, `budgets`, `throttles` (probabilities by
  // upstream) and `guards` (by upstream) are the state at its end. `second` grows from call to
  // call. If seconds are left out, the next sample contains their calls. The counters of a new
  // upstream count from 0. An upstream that is not in `totals` any more is forgotten with its last
  // sample.
  void Add(uint32_t second, const std::vector<UpstreamTotals>& totals,
           const std::vector<BudgetGauges>& budgets,
           const std::map<std::string, double>& throttles = {},
           const std::map<std::string, GuardState>& guards = {});

  // The last second; 0 before the first.
  uint32_t second() const { return second_; }

  // The number of seconds since Begin, from 1 to `most`.
  int SecondsSeen(int most) const;

  // The names of the upstreams that were called in the last kSeconds.
  std::vector<std::string> CalledUpstreams() const;

  // The last second in which a call of the upstream ended; 0 if none ended in the last kSeconds.
  uint32_t LastCalled(const std::string& upstream) const;

  // The samples of an upstream after second `since`, the oldest first; and their number.
  std::vector<HistorySample> Samples(const std::string& upstream, uint32_t since) const;
  size_t CountSamples(const std::string& upstream, uint32_t since) const;

  // The sum of the samples of the last `seconds` seconds, none of them before Begin; zeros if there
  // is no sample. The budget, the throttle's probability and the guard are those of the newest
  // sample.
  HistorySample Sum(const std::string& upstream, int seconds) const;

  // For how many seconds, up to the newest one and at most kSeconds, the budget has allowed less
  // than one retry. Returns 0 if it allows one now, or if nothing was called in that time.
  int SecondsEmpty(const std::string& upstream) const;

 private:
  // One second in which something happened, or a row of seconds in which nothing happened.
  struct Stretch {
    uint32_t first = 0, last = 0;
    BudgetState budget;                   // at the end of each of the seconds
    double throttle_probability = 0;      // likewise
    std::unique_ptr<GuardState> guard;    // likewise; nullptr: there is none
    uint64_t which = 0;                   // bit i: number i of the totals is not 0
    std::unique_ptr<uint32_t[]> numbers;  // the numbers that are not 0, in their order
  };
  struct Track {
    UpstreamTotals last;
    uint32_t last_called = 0;
    bool listed = false;  // the totals of the last Add had the upstream
    std::deque<Stretch> stretches;
  };

  static bool Alike(const Stretch& one, const Stretch& other);
  static Stretch Pack(const HistorySample& sample);
  static void AddUp(UpstreamTotals& sum, const Stretch& stretch);

  const Track* Find(const std::string& upstream) const;
  bool CalledLately(const Track& track) const;
  void Append(Track& track, Stretch stretch);
  void Forget();
  void ForgetBeyond(int seconds);

  uint32_t begun_ = 0;
  uint32_t second_ = 0;
  int reach_ = kSeconds;  // how many seconds are kept
  size_t stretches_ = 0;
  std::map<std::string, Track> tracks_;
};

// How many durations, in nanoseconds, each bucket has.
using DurationCounts = std::array<uint64_t, Histogram<kDurationBounds>::kBuckets>;

// The duration that `share` (0 to 1) of them did not exceed; 0 without any. The result is
// interpolated within a bucket, as PromQL's histogram_quantile does it. In the last bucket, which
// has no upper bound, the result is the bucket's lower bound.
absl::Duration Percentile(const DurationCounts& counts, double share);

// Of the calls.
inline absl::Duration Percentile(const UpstreamTotals& added, double share) {
  return Percentile(added.durations, share);
}

// The number of attempts for each call that had an attempt and is not a retry by the application
// itself; 1 without such calls.
double Amplification(const UpstreamTotals& added);

}  // namespace levee
