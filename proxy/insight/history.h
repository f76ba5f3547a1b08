// The last five minutes of every upstream, second by second.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "telemetry/metrics.h"
#include "telemetry/upstream_totals.h"

namespace levee {

// How an upstream's retry budget stands; of several (destinations, policies) the one with the least
// available.
struct BudgetState {
  double available = 0;
  double limit = 0;
  double ratio = 0;  // the largest of the upstream's
  bool floor_withheld = false;

  bool operator==(const BudgetState&) const = default;
};

// What one second added.
struct HistorySample {
  uint32_t second = 0;   // counted from the start
  UpstreamTotals added;  // without the upstream's name
  BudgetState budget;    // at its end
};

// Not thread-safe: its owner asks once a second and answers readers under a lock of its own. No
// clock.
//
// A second in which something happened takes about 100 bytes, a row of others as much as one. Of
// these there are at most kMaxStretches: with more than some three hundred upstreams that are never
// idle it reaches less far back, but never less than kLeastSeconds.
class History {
 public:
  static constexpr int kSeconds = 300;
  static constexpr int kLeastSeconds = 10;
  static constexpr size_t kMaxStretches = 100'000;

  // Notes where the counters stand at second `second`, before the first Add or after a pause: what
  // they have counted by now is part of no sample.
  void Begin(uint32_t second, const std::vector<UpstreamTotals>& totals);

  // Takes in what there is at the end of second `second`, which grows from call to call; seconds
  // may be left out, and what happened in them is then part of the next sample. Counters of an
  // upstream that was not there before count from 0; one that is there no more is forgotten with
  // its last sample.
  void Add(uint32_t second, const std::vector<UpstreamTotals>& totals,
           const std::vector<Metrics::BudgetGauges>& budgets);

  // The last second; 0 before the first.
  uint32_t second() const { return second_; }

  // How many of the last `most` seconds have passed since Begin; at least 1.
  int SecondsSeen(int most) const;

  // The names of those that were called in the last kSeconds.
  std::vector<std::string> CalledUpstreams() const;

  // The last second in which a call of the upstream ended; 0: none did in the last kSeconds.
  uint32_t LastCalled(const std::string& upstream) const;

  // Those of an upstream after second `since`, the oldest first; and how many there are.
  std::vector<HistorySample> Samples(const std::string& upstream, uint32_t since) const;
  size_t CountSamples(const std::string& upstream, uint32_t since) const;

  // The sum over the last `seconds` seconds since Begin up to the newest; zeros without any. The
  // budget is the newest one.
  HistorySample Sum(const std::string& upstream, int seconds) const;

  // For how many seconds since Begin up to the newest fewer than one retry has been available, at
  // most kSeconds; 0 if there is one now, or if nothing was called in that time.
  int SecondsEmpty(const std::string& upstream) const;

 private:
  // One second in which something happened, or a row of seconds in which nothing did.
  struct Stretch {
    uint32_t first = 0, last = 0;
    BudgetState budget;                   // at the end of each
    uint64_t which = 0;                   // bit i: number i of the totals is not 0
    std::unique_ptr<uint32_t[]> numbers;  // these, in their order
  };
  struct Track {
    UpstreamTotals last;
    uint32_t last_called = 0;
    bool listed = false;  // by the last Add
    std::deque<Stretch> stretches;
  };

  static Stretch Pack(uint32_t second, const UpstreamTotals& added, const BudgetState& budget);
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

// Of calls; 0 without any. Interpolated within a bucket, as histogram_quantile of PromQL does; in
// the unbounded one it is that bucket's lower bound.
absl::Duration Percentile(const UpstreamTotals& added, double share);

// Attempts for each call that had one and is no retry of the application; 1 without such calls.
double Amplification(const UpstreamTotals& added);

}  // namespace levee
