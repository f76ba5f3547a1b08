// SPDX-License-Identifier: Apache-2.0
// The calls that the application serves, found by their trace.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "absl/container/flat_hash_map.h"
#include "base/instant.h"
#include "wire/overload_mark.h"

namespace levee {

// A trace: a hash of its id.
using TraceNumber = uint64_t;

// Returns the number of a trace. Callers cannot guess which ids have equal numbers as long as
// `seed` is secret.
TraceNumber NumberOfTrace(std::string_view trace_id, uint64_t seed);

// Keeps a place for each call that the application serves, as long as that lasts. Calls that the
// application makes meanwhile find it by the trace. Several served calls of one trace have a place
// each, and are found together.
//
// It is bounded, and has all its memory from the start: a trace has two sets of eight places, and a
// call takes one of that set which has more free ones ("Balanced Allocations": Azar, Broder, Karlin
// and Upfal, 1999).
// Shared by all workers; any thread. No function takes a lock, but for calls that have a mark.
class TieTable {
 public:
  // `max_calls`: how many places there are, above 0; rounded up to whole sets.
  explicit TieTable(int max_calls);

  // The place of a served call. 0 is none.
  struct Place {
    uint64_t word = 0;
    uint32_t index = 0;
    explicit operator bool() const { return word != 0; }
  };

  // The application begins to serve a call. `priority`: what a header says, empty if none. One that
  // is longer than kMaxPriority is left out. Where no place is free, a call whose caller has gone
  // gives its own up, the one that is remembered longest first: callers that open calls only to
  // leave them take no place from others. Returns no place if all are those of calls being served.
  static constexpr size_t kMaxPriority = 55;
  Place Enter(TraceNumber trace, Instant deadline, std::string_view priority, Instant now);

  // The application has served the call. Returns the mark that calls made for it were answered
  // with, if any was. `gone_since`: if its caller has left without an answer, since when calls that
  // are made for it are in vain; the trace is remembered for kGoneKept then, or until its place is
  // needed.
  static constexpr absl::Duration kGoneKept = absl::Seconds(10);
  std::optional<OverloadMark> Leave(Place place, std::optional<Instant> gone_since, Instant now);

  // The served calls of a trace, together.
  struct Served {
    bool gone = false;  // all their callers have left
    Instant deadline;   // the latest; of those whose callers have left: since when they have gone
    std::string priority;  // of the first that has one
  };

  // Returns nullopt if no call of the trace is known.
  std::optional<Served> Find(TraceNumber trace, Instant now) const;

  // A call of the trace was answered with a mark. Returns whether it is for any call that is
  // served.
  bool Mark(TraceNumber trace, const OverloadMark& mark);

 private:
  static constexpr size_t kWays = 8;
  static constexpr size_t kPriorityWords = (kMaxPriority + 1) / 8;

  // The owner of a place is the call that has it. It writes everything before the word says so.
  struct Entry {
    std::atomic<int64_t> gone_until{0};  // nanoseconds; 0: the call is being served
    std::atomic<int64_t> deadline{0};    // nanoseconds
    std::atomic<uint64_t> marked{0};     // the place's word, if there is a mark for it
    std::array<std::atomic<uint64_t>, kPriorityWords> priority{};  // the length, and the text
  };
  // Eight places in a cache line. A word is the number of the trace, 48 bits, and how often the
  // place was taken, 16 bits, so that a word seldom comes twice.
  struct alignas(64) Set {
    std::array<std::atomic<uint64_t>, kWays> words{};
  };

  template <typename Visit>
  void ForEach(TraceNumber trace, Visit visit) const;
  std::array<size_t, 2> SetsOf(TraceNumber trace) const;
  size_t CountFree(size_t set, Instant now) const;
  std::optional<size_t> TakeOneOf(size_t set, Instant now);
  std::optional<size_t> TakeOldestGone(TraceNumber trace);
  bool Take(size_t index, uint64_t word);
  bool IsFree(size_t index, uint64_t word, Instant now) const;
  std::atomic<uint64_t>& WordAt(size_t index) const;
  void WritePriority(Entry& entry, std::string_view priority);
  static std::string ReadPriority(const Entry& entry);

  const size_t sets_;
  const std::unique_ptr<Set[]> words_;
  const std::unique_ptr<Entry[]> entries_;

  std::mutex mutex_;
  struct Marked {
    uint64_t word;
    OverloadMark mark;
  };
  absl::flat_hash_map<size_t, Marked> marks_;  // by the place's index
};

}  // namespace levee
