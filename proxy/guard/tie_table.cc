// SPDX-License-Identifier: Apache-2.0
#include "guard/tie_table.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include "absl/hash/hash.h"
#include "base/check.h"

namespace levee {
namespace {

// The two numbers that no trace has: of a place that is free, and of one that is being written.
constexpr uint64_t kNobody = 0;
constexpr uint64_t kWriter = 1;

constexpr int kTimesBits = 16;
constexpr uint64_t kTimesMask = (1 << kTimesBits) - 1;

uint64_t TraceIn(uint64_t word) { return word >> kTimesBits; }

// Returns the word of the same place for another trace.
uint64_t Retaken(uint64_t word, uint64_t trace) {
  return trace << kTimesBits | ((word + 1) & kTimesMask);
}

}  // namespace

TraceNumber NumberOfTrace(std::string_view trace_id, uint64_t seed) {
  const uint64_t hash = absl::HashOf(trace_id, seed) >> kTimesBits;
  return std::max(hash, kWriter + 1);
}

TieTable::TieTable(int max_calls)
    : sets_((static_cast<size_t>(max_calls) + kWays - 1) / kWays),
      words_(std::make_unique<Set[]>(sets_)),
      entries_(std::make_unique<Entry[]>(sets_ * kWays)) {
  LEVEE_CHECK(max_calls > 0);
}

std::array<size_t, 2> TieTable::SetsOf(TraceNumber trace) const {
  return {(trace & 0xffffff) % sets_, (trace >> 24) % sets_};
}

std::atomic<uint64_t>& TieTable::WordAt(size_t index) const {
  return words_[index / kWays].words[index % kWays];
}

// Calls `visit` with the index and the word of each place of the trace's two sets that it has.
template <typename Visit>
void TieTable::ForEach(TraceNumber trace, Visit visit) const {
  const auto [first, second] = SetsOf(trace);
  for (const size_t set : {first, second}) {
    for (size_t way = 0; way < kWays; ++way) {
      const size_t index = set * kWays + way;
      const uint64_t word = WordAt(index).load(std::memory_order_acquire);
      if (TraceIn(word) == trace) visit(index, word);
    }
    if (first == second) return;
  }
}

bool TieTable::IsFree(size_t index, uint64_t word, Instant now) const {
  if (TraceIn(word) == kNobody) return true;
  if (TraceIn(word) == kWriter) return false;
  const int64_t until = entries_[index].gone_until.load(std::memory_order_acquire);
  return until != 0 && until <= now.nanos();
}

size_t TieTable::CountFree(size_t set, Instant now) const {
  size_t free = 0;
  for (size_t index = set * kWays; index < (set + 1) * kWays; ++index) {
    free += IsFree(index, WordAt(index).load(std::memory_order_acquire), now) ? 1 : 0;
  }
  return free;
}

// Returns the index of a place that is the caller's to write.
std::optional<size_t> TieTable::TakeOneOf(size_t set, Instant now) {
  for (size_t index = set * kWays; index < (set + 1) * kWays; ++index) {
    const uint64_t word = WordAt(index).load(std::memory_order_acquire);
    if (IsFree(index, word, now) && Take(index, word)) return index;
  }
  return std::nullopt;
}

// Returns whether the place is the caller's to write. It is not if anybody has taken it since its
// word was read.
bool TieTable::Take(size_t index, uint64_t word) {
  return WordAt(index).compare_exchange_strong(word, Retaken(word, kWriter));
}

// As TakeOneOf, in both sets of the trace.
std::optional<size_t> TieTable::TakeOldestGone(TraceNumber trace) {
  std::optional<size_t> oldest;
  uint64_t word_of_oldest = 0;
  int64_t least = std::numeric_limits<int64_t>::max();
  for (const size_t set : SetsOf(trace)) {
    for (size_t index = set * kWays; index < (set + 1) * kWays; ++index) {
      const uint64_t word = WordAt(index).load(std::memory_order_acquire);
      const int64_t until = entries_[index].gone_until.load(std::memory_order_acquire);
      if (TraceIn(word) <= kWriter || until == 0 || until >= least) continue;
      oldest = index;
      word_of_oldest = word;
      least = until;
    }
  }
  if (oldest.has_value() && !Take(*oldest, word_of_oldest)) return std::nullopt;
  return oldest;
}

TieTable::Place TieTable::Enter(TraceNumber trace, Instant deadline, std::string_view priority,
                                Instant now) {
  auto [better, other] = SetsOf(trace);
  if (CountFree(better, now) < CountFree(other, now)) std::swap(better, other);
  std::optional<size_t> index = TakeOneOf(better, now);
  if (!index.has_value()) index = TakeOneOf(other, now);
  if (!index.has_value()) index = TakeOldestGone(trace);
  if (!index.has_value()) return {};
  Entry& entry = entries_[*index];
  entry.gone_until.store(0, std::memory_order_release);
  entry.deadline.store(deadline.nanos(), std::memory_order_release);
  WritePriority(entry, priority);
  std::atomic<uint64_t>& word = WordAt(*index);
  const uint64_t own = Retaken(word.load(std::memory_order_relaxed), trace);
  word.store(own, std::memory_order_release);
  return {.word = own, .index = static_cast<uint32_t>(*index)};
}

void TieTable::WritePriority(Entry& entry, std::string_view priority) {
  if (priority.size() > kMaxPriority) priority = {};
  std::array<uint64_t, kPriorityWords> words{};
  char bytes[sizeof words] = {static_cast<char>(priority.size())};
  priority.copy(bytes + 1, kMaxPriority);
  std::memcpy(words.data(), bytes, sizeof words);
  const size_t used = priority.size() / sizeof(uint64_t) + 1;
  for (size_t i = 0; i < used; ++i) entry.priority[i].store(words[i], std::memory_order_release);
}

// The text may be torn, if the place is taken anew meanwhile: the word tells.
std::string TieTable::ReadPriority(const Entry& entry) {
  std::array<uint64_t, kPriorityWords> words{};
  words[0] = entry.priority[0].load(std::memory_order_acquire);
  char bytes[sizeof words];
  std::memcpy(bytes, words.data(), sizeof words[0]);
  const size_t size = std::min(static_cast<size_t>(bytes[0]), kMaxPriority);
  for (size_t i = 1; i <= size / sizeof(uint64_t); ++i) {
    words[i] = entry.priority[i].load(std::memory_order_acquire);
  }
  std::memcpy(bytes, words.data(), sizeof words);
  return std::string(bytes + 1, size);
}

std::optional<OverloadMark> TieTable::Leave(Place place, std::optional<Instant> gone_since,
                                            Instant now) {
  Entry& entry = entries_[place.index];
  if (gone_since.has_value()) {
    entry.deadline.store(gone_since->nanos(), std::memory_order_release);
    entry.gone_until.store((now + kGoneKept).nanos(), std::memory_order_release);
  } else {
    WordAt(place.index).store(Retaken(place.word, kNobody));
  }
  if (entry.marked.load() != place.word) return std::nullopt;
  const std::lock_guard lock(mutex_);
  const auto found = marks_.find(place.index);
  if (found == marks_.end() || found->second.word != place.word) return std::nullopt;
  OverloadMark mark = std::move(found->second.mark);
  marks_.erase(found);
  return mark;
}

std::optional<TieTable::Served> TieTable::Find(TraceNumber trace, Instant now) const {
  std::optional<Served> served;
  ForEach(trace, [&](size_t index, uint64_t word) {
    const Entry& entry = entries_[index];
    const int64_t until = entry.gone_until.load(std::memory_order_acquire);
    Served one = {.gone = until != 0,
                  .deadline = Instant::FromNanos(entry.deadline.load(std::memory_order_acquire)),
                  .priority = ReadPriority(entry)};
    const bool retaken = WordAt(index).load(std::memory_order_relaxed) != word;
    if (retaken || (one.gone && until <= now.nanos())) return;
    if (!served.has_value() || (served->gone && !one.gone)) {
      served = std::move(one);
    } else if (served->gone == one.gone) {
      served->deadline = std::max(served->deadline, one.deadline);
      if (served->priority.empty()) served->priority = std::move(one.priority);
    }
  });
  return served;
}

bool TieTable::Mark(TraceNumber trace, const OverloadMark& mark) {
  bool wanted = false;
  ForEach(trace, [&](size_t index, uint64_t word) {
    Entry& entry = entries_[index];
    if (TraceIn(word) != trace || entry.gone_until.load(std::memory_order_acquire) != 0) return;
    const std::lock_guard lock(mutex_);
    marks_[index] = {.word = word, .mark = mark};
    entry.marked.store(word);
    // The call that has the place looks at `marked` after it has given the place back.
    if (WordAt(index).load() == word) {
      wanted = true;
    } else {
      marks_.erase(index);
    }
  });
  return wanted;
}

}  // namespace levee
