// SPDX-License-Identifier: Apache-2.0
// The ledger itself: what the caller, the endpoints and the sidecar's access log say of every call,
// and whether it agrees.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "ledger/loop.h"
#include "ledger/schedule.h"

namespace levee::ledger {

// The access log's account of one call.
struct LoggedCall {
  uint64_t id = 0;
  std::string code;
  int attempts = 0;     // all that were made
  int transparent = 0;  // those among them that `refused` made necessary
  uint64_t answer_bytes = 0;
};

// Entries live from the caller's first byte until nobody can have anything to say of the call any
// more, so that memory depends on how many calls are under way, not on how many there were.
class Book {
 public:
  // `lateness`: how long after both ends of a call an endpoint may still come to read what was sent
  // to it. The default is long, for a busy machine and an endpoint that reads byte by byte.
  Book(uint64_t seed, const Schedule& schedule,
       std::chrono::seconds lateness = std::chrono::seconds(10))
      : seed_(seed), schedule_(schedule), lateness_(lateness) {}

  // The number of a call that begins now: 1, 2, ...
  uint64_t Begin(Clock::time_point now);

  // An endpoint has seen an attempt's head, the caller of which says that `previous` attempts went
  // before. Returns how many starts of the call it had been told of before.
  int Started(uint64_t id, int previous, FaultShape& fault);
  // An endpoint has all of the request and does what it asks for.
  void Executed(uint64_t id);
  // The request differs from what the caller sent.
  void RequestDiffers(uint64_t id) { Violate(id, "request bytes differ"); }

  // The caller has seen a grpc-status.
  void GotStatus(uint64_t id, std::string_view status);
  // The stream was reset with REFUSED_STREAM: nothing has run, and gRPC takes it for UNAVAILABLE.
  void Refused(uint64_t id);
  void AnswerDiffers(uint64_t id) { Violate(id, "answer bytes differ"); }
  // The stream has ended. `answer_bytes`: received, with the prefix.
  void Ended(uint64_t id, size_t answer_bytes, Clock::time_point now);
  // The caller has given it up; nothing is known of its end.
  void Aborted(uint64_t id, Clock::time_point now);

  void Logged(const LoggedCall& call, Clock::time_point now);

  // Judges what is settled and forgets it. With `all`, everything.
  void Sweep(Clock::time_point now, bool all = false);

  uint64_t begun() const { return next_ - 1; }
  // Calls that the caller has had no end of, or the access log no line.
  size_t open() const { return open_; }
  // Calls that the caller has had no end of.
  size_t under_way() const { return under_way_; }
  uint64_t ended() const { return begun() - under_way_; }
  size_t entries() const { return entries_.size(); }

  struct Sums {
    uint64_t judged = 0;
    uint64_t logged = 0;
    uint64_t attempts = 0;
    uint64_t starts = 0;
    uint64_t executions = 0;
    uint64_t aborted = 0;
    uint64_t unlogged = 0;  // given up by the caller before the sidecar saw them
    size_t most_entries = 0;
    std::array<uint64_t, kMethods> calls_by_method{};
    std::array<uint64_t, kMethods> retries_by_method{};  // transparent ones excluded
    std::array<uint64_t, kFaults> faults{};
    std::array<std::array<uint64_t, kMoments>, 2> moments{};  // of resets and of kills
    std::map<std::string, uint64_t> codes;
  };
  const Sums& sums() const { return sums_; }
  uint64_t violations() const { return violations_; }

  // Prints what is wrong with call `id`, its seed and its history, and counts it.
  void Violate(uint64_t id, std::string_view what);

 private:
  struct Event {
    char kind;
    uint8_t detail;
  };
  struct Entry {
    Clock::time_point begun;
    Clock::time_point ended_at;  // as the caller saw it
    Clock::time_point changed;   // last, by the caller or by the log
    uint32_t answer_bytes = 0;
    uint32_t logged_answer_bytes = 0;
    int16_t status = -1;
    int16_t logged_status = -1;
    uint8_t statuses = 0;
    uint8_t starts = 0;
    uint8_t executions = 0;
    uint8_t lines = 0;
    uint8_t attempts = 0;
    uint8_t transparent = 0;
    uint8_t most_previous = 0;
    Fault last_fault = Fault::kNone;
    bool ended = false;
    bool aborted = false;
    bool refused = false;
    uint8_t events_used = 0;
    std::array<Event, 14> events{};
  };

  Entry* Find(uint64_t id);
  void Note(Entry& entry, char kind, uint8_t detail);
  bool Settled(const Entry& entry, Clock::time_point now) const;
  void Judge(uint64_t id, const Entry& entry);
  void JudgeLog(uint64_t id, const Entry& entry);
  std::string History(const Entry& entry) const;
  void CloseIfDone(const Entry& entry);

  const uint64_t seed_;
  const Schedule& schedule_;
  const std::chrono::seconds lateness_;
  std::deque<Entry> entries_;
  uint64_t first_ = 1;  // the id of entries_.front()
  uint64_t next_ = 1;
  size_t open_ = 0;
  size_t under_way_ = 0;
  std::unordered_set<uint64_t> ran_;  // contents of calls that may be replayed
  uint64_t violations_ = 0;
  Sums sums_;
};

// gRPC's number for the name that logs use; -1: none.
int StatusNumber(std::string_view name);

}  // namespace levee::ledger
