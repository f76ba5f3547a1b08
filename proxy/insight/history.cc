// SPDX-License-Identifier: Apache-2.0
#include "insight/history.h"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

namespace levee {
namespace {

// Calls `visit` with each number of the totals, always in the same order. `Totals` is
// UpstreamTotals or const UpstreamTotals.
template <typename Totals, typename Visit>
void ForEachNumber(Totals& totals, Visit visit) {
  visit(totals.calls);
  visit(totals.calls_cancelled);
  visit(totals.calls_ok);
  visit(totals.attempted);
  visit(totals.attempts);
  visit(totals.attempts_cancelled);
  visit(totals.attempts_ok);
  visit(totals.retries);
  visit(totals.app_retries_admitted);
  visit(totals.app_retries_refused);
  visit(totals.rate_limited);
  visit(totals.throttle_rejected);
  visit(totals.throttle_observed);
  visit(totals.waits_released);
  visit(totals.waits_expired);
  visit(totals.waits_cancelled);
  visit(totals.marks_received);
  visit(totals.marks_sent);
  visit(totals.guard_admitted);
  visit(totals.guard_queued);
  for (auto& number : totals.guard_refused) visit(number);
  for (auto& number : totals.guard_arrivals) visit(number);
  for (auto& number : totals.refused) visit(number);
  for (auto& number : totals.durations) visit(number);
}

using Numbers = std::array<uint64_t, 64>;

Numbers NumbersOf(const UpstreamTotals& totals) {
  Numbers numbers{};
  size_t i = 0;
  ForEachNumber(totals, [&](uint64_t number) { numbers.at(i++) = number; });
  return numbers;
}

UpstreamTotals Difference(const UpstreamTotals& now, const UpstreamTotals& before) {
  UpstreamTotals added;
  const Numbers to = NumbersOf(now);
  const Numbers from = NumbersOf(before);
  size_t i = 0;
  ForEachNumber(added, [&](uint64_t& number) {
    number = to[i] - std::min(to[i], from[i]);
    ++i;
  });
  return added;
}

std::map<std::string, BudgetState> StatesOf(const std::vector<BudgetGauges>& budgets) {
  std::map<std::string, BudgetState> states;
  for (const BudgetGauges& budget : budgets) {
    const auto [entry, first] = states.try_emplace(budget.upstream);
    BudgetState& state = entry->second;
    const double ratio = std::max(state.ratio, budget.ratio);
    const int64_t waiting = state.waiting + budget.waiting;
    if (first || budget.available < state.available) {
      state = {.available = budget.available,
               .at_once = budget.at_once,
               .limit = budget.limit,
               .floor_withheld = budget.floor_withheld};
    }
    state.ratio = ratio;
    state.waiting = waiting;
  }
  return states;
}

}  // namespace

History::Stretch History::Pack(const HistorySample& sample) {
  std::vector<uint32_t> numbers;
  Stretch stretch{.first = sample.second,
                  .last = sample.second,
                  .budget = sample.budget,
                  .throttle_probability = sample.throttle_probability};
  if (sample.guard.has_value()) stretch.guard = std::make_unique<GuardState>(*sample.guard);
  uint64_t bit = 1;
  ForEachNumber(sample.added, [&](uint64_t number) {
    if (number > 0) {
      stretch.which |= bit;
      numbers.push_back(
          static_cast<uint32_t>(std::min<uint64_t>(number, std::numeric_limits<uint32_t>::max())));
    }
    bit <<= 1;
  });
  if (numbers.empty()) return stretch;
  stretch.numbers = std::make_unique<uint32_t[]>(numbers.size());
  std::copy(numbers.begin(), numbers.end(), stretch.numbers.get());
  return stretch;
}

void History::AddUp(UpstreamTotals& sum, const Stretch& stretch) {
  if (stretch.which == 0) return;
  uint64_t bit = 1;
  size_t next = 0;
  ForEachNumber(sum, [&](uint64_t& number) {
    if ((stretch.which & bit) != 0) number += stretch.numbers[next++];
    bit <<= 1;
  });
}

void History::Begin(uint32_t second, const std::vector<UpstreamTotals>& totals) {
  begun_ = second_ = second;
  for (const UpstreamTotals& total : totals) tracks_[total.upstream].last = total;
}

void History::Add(uint32_t second, const std::vector<UpstreamTotals>& totals,
                  const std::vector<BudgetGauges>& budgets,
                  const std::map<std::string, double>& throttles,
                  const std::map<std::string, GuardState>& guards) {
  const int64_t passed = int64_t{second} - second_;
  second_ = second;
  // If the history was shortened because it was too large, it becomes longer again with time.
  reach_ = static_cast<int>(std::min<int64_t>(reach_ + passed, kSeconds));
  const std::map<std::string, BudgetState> states = StatesOf(budgets);
  for (auto& [name, track] : tracks_) track.listed = false;
  for (const UpstreamTotals& total : totals) {
    Track& track = tracks_[total.upstream];
    HistorySample sample{.second = second, .added = Difference(total, track.last)};
    track.last = total;
    track.listed = true;
    if (sample.added.calls > 0) track.last_called = second;
    const auto state = states.find(total.upstream);
    if (state != states.end()) sample.budget = state->second;
    const auto throttle = throttles.find(total.upstream);
    if (throttle != throttles.end()) sample.throttle_probability = throttle->second;
    const auto guard = guards.find(total.upstream);
    if (guard != guards.end()) sample.guard = guard->second;
    Append(track, Pack(sample));
  }
  Forget();
}

// Whether nothing happened in either, and nothing changed from one to the other.
bool History::Alike(const Stretch& one, const Stretch& other) {
  const bool guards_alike = one.guard == nullptr || other.guard == nullptr
                                ? one.guard == other.guard
                                : *one.guard == *other.guard;
  return one.which == 0 && other.which == 0 && one.budget == other.budget &&
         one.throttle_probability == other.throttle_probability && guards_alike;
}

void History::Append(Track& track, Stretch stretch) {
  if (!track.stretches.empty()) {
    Stretch& before = track.stretches.back();
    if (Alike(before, stretch) && before.last + 1 == stretch.first) {
      before.last = stretch.last;
      return;
    }
  }
  track.stretches.push_back(std::move(stretch));
  ++stretches_;
}

void History::Forget() {
  ForgetBeyond(reach_);
  while (stretches_ > kMaxStretches && reach_ > kLeastSeconds) ForgetBeyond(--reach_);
  // An upstream that is still in the totals keeps its track. Without `last`, all its calls would
  // count as new.
  std::erase_if(tracks_, [](const auto& track) {
    return !track.second.listed && track.second.stretches.empty();
  });
}

void History::ForgetBeyond(int seconds) {
  const auto reach = static_cast<uint32_t>(seconds);
  const uint32_t oldest = second_ >= reach ? second_ - reach + 1 : 0;
  for (auto& [name, track] : tracks_) {
    auto& stretches = track.stretches;
    while (!stretches.empty() && stretches.front().last < oldest) {
      stretches.pop_front();
      --stretches_;
    }
    if (!stretches.empty()) stretches.front().first = std::max(stretches.front().first, oldest);
  }
}

int History::SecondsSeen(int most) const {
  return static_cast<int>(std::clamp<int64_t>(int64_t{second_} - begun_, 1, most));
}

const History::Track* History::Find(const std::string& upstream) const {
  const auto track = tracks_.find(upstream);
  return track != tracks_.end() ? &track->second : nullptr;
}

bool History::CalledLately(const Track& track) const {
  return track.last_called > 0 && int64_t{track.last_called} + kSeconds > int64_t{second_};
}

std::vector<std::string> History::CalledUpstreams() const {
  std::vector<std::string> names;
  for (const auto& [name, track] : tracks_) {
    if (CalledLately(track)) names.push_back(name);
  }
  return names;
}

uint32_t History::LastCalled(const std::string& upstream) const {
  const Track* track = Find(upstream);
  return track != nullptr && CalledLately(*track) ? track->last_called : 0;
}

std::vector<HistorySample> History::Samples(const std::string& upstream, uint32_t since) const {
  std::vector<HistorySample> samples;
  const Track* track = Find(upstream);
  if (track == nullptr) return samples;
  for (const Stretch& stretch : track->stretches) {
    for (uint32_t second = stretch.first; second <= stretch.last; ++second) {
      if (second <= since) continue;
      HistorySample& sample = samples.emplace_back();
      sample.second = second;
      sample.budget = stretch.budget;
      sample.throttle_probability = stretch.throttle_probability;
      if (stretch.guard != nullptr) sample.guard = *stretch.guard;
      AddUp(sample.added, stretch);
    }
  }
  return samples;
}

size_t History::CountSamples(const std::string& upstream, uint32_t since) const {
  const Track* track = Find(upstream);
  if (track == nullptr) return 0;
  size_t count = 0;
  for (auto stretch = track->stretches.rbegin(); stretch != track->stretches.rend(); ++stretch) {
    if (stretch->last <= since) break;
    count += stretch->last - std::max(stretch->first - 1, since);
  }
  return count;
}

HistorySample History::Sum(const std::string& upstream, int seconds) const {
  HistorySample sum{.second = second_};
  const Track* track = Find(upstream);
  if (track == nullptr || track->stretches.empty()) return sum;
  const int64_t before = std::max(int64_t{second_} - seconds, int64_t{begun_});
  for (auto stretch = track->stretches.rbegin(); stretch != track->stretches.rend(); ++stretch) {
    if (int64_t{stretch->last} <= before) break;
    AddUp(sum.added, *stretch);
  }
  const Stretch& newest = track->stretches.back();
  sum.budget = newest.budget;
  sum.throttle_probability = newest.throttle_probability;
  if (newest.guard != nullptr) sum.guard = *newest.guard;
  return sum;
}

int History::SecondsEmpty(const std::string& upstream) const {
  const Track* track = Find(upstream);
  if (track == nullptr || track->stretches.empty()) return 0;
  const auto& stretches = track->stretches;
  bool called = false;
  // The budget of a sample holds from the end of the sample before it.
  int64_t since = int64_t{stretches.front().first} - 1;
  for (auto stretch = stretches.rbegin(); stretch != stretches.rend(); ++stretch) {
    if (stretch->last <= begun_ || stretch->budget.available >= 1) {
      since = stretch->last;
      break;
    }
    UpstreamTotals added;
    AddUp(added, *stretch);
    called |= added.calls > 0;
  }
  if (!called) return 0;
  since = std::max(since, int64_t{begun_});
  return static_cast<int>(std::min<int64_t>(second_ - since, kSeconds));
}

absl::Duration Percentile(const DurationCounts& counts, double share) {
  using Durations = Histogram<kDurationBounds>;
  uint64_t all = 0;
  for (const uint64_t count : counts) all += count;
  if (all == 0) return absl::ZeroDuration();
  const double rank = share * static_cast<double>(all);
  double below = 0;
  for (size_t bucket = 0; bucket + 1 < Durations::kBuckets; ++bucket) {
    const double count = static_cast<double>(counts[bucket]);
    if (count > 0 && below + count >= rank) {
      const double start = bucket == 0 ? 0 : Durations::Bound(bucket - 1);
      return absl::Nanoseconds(start + (Durations::Bound(bucket) - start) * (rank - below) / count);
    }
    below += count;
  }
  return absl::Nanoseconds(Durations::Bound(Durations::kBuckets - 2));
}

double Amplification(const UpstreamTotals& added) {
  if (added.attempted <= added.app_retries_admitted) return 1;
  const uint64_t asked = added.attempted - added.app_retries_admitted;
  return static_cast<double>(added.attempts) / static_cast<double>(asked);
}

}  // namespace levee
