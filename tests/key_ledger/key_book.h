// SPDX-License-Identifier: Apache-2.0
// What is known of each call and of each key, and what of it is wrong.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "ledger/loop.h"

namespace levee::ledger {

// How a call ended, as its caller sees it.
enum class Outcome : uint8_t {
  kRan,       // it ran, and the caller has its answer
  kReplayed,  // the caller has the answer of another call with the key
  kRefused,   // it has surely not run
  kLost,      // the caller does not know whether it ran
};
inline constexpr size_t kOutcomes = 4;

// Calls at a time.
inline constexpr uint64_t kMostOpen = 540;

// What a caller gets.
struct KeyAnswer {
  int status = -1;  // of gRPC; -1: there was none
  std::string message;
  bool replayed = false;
  int run = 0;  // which run of the key it is of, as the application says; 0: of none
  std::string body;
};

// The answer of a run, byte for byte.
std::string BodyOf(uint32_t key, int run);
inline constexpr int kFailureStatus = 5;
std::string FailureOf(uint32_t key, int run);

// One thread, but for what says otherwise.
class KeyBook {
 public:
  explicit KeyBook(uint32_t keys) : keys_(keys) {}

  // A call begins; returns its number.
  uint64_t Begin(uint32_t key);
  // The application does the work of a call; returns which run of its key that is, from 1 on.
  int Executed(uint64_t call, uint32_t key);
  // How many requests with the key the application has seen before this one.
  int Arrived(uint32_t key) { return keys_[key].arrivals++; }

  // The call ends, one of both. Returns whether the store was away, so that it may be repeated.
  bool Ended(uint64_t call, const KeyAnswer& answer);
  void GaveUp(uint64_t call);

  // What is written between these two may be gone. Any thread, one at a time.
  void BeginFailover();
  void EndFailover();

  // Lets those who wait for calls go on. No more calls begin. Any thread, as what follows.
  void Finish();
  bool finished() const { return finished_; }
  // Returns once so many calls have ended, or Finish was called.
  void Await(uint64_t calls) const;
  uint64_t ended() const { return ended_; }

  void Violate(const std::string& what);

  uint64_t begun() const { return begun_; }
  size_t open() const { return open_.size(); }
  uint64_t violations() const { return violations_; }
  uint64_t count(Outcome outcome) const { return outcomes_[static_cast<size_t>(outcome)]; }

  struct Sums {
    uint64_t runs = 0;
    uint64_t keys_run = 0;
    uint64_t twice = 0;    // runs of keys that had run, each behind a failover
    uint64_t exposed = 0;  // calls that ended or were under way in a failover
    // Parts of kLost.
    uint64_t told = 0, cut = 0, late = 0, gave_up = 0;
    // Parts of kRefused.
    uint64_t store_away = 0, try_again = 0;
  };
  // To be called when all calls have ended.
  Sums Total() const;

 private:
  struct Key {
    uint8_t arrivals = 0;
    uint8_t runs = 0;
    uint32_t ran_at = 0;  // in milliseconds since the start
  };
  struct Call {
    uint32_t key = 0;
    int run = 0;  // 0: it has not run
  };
  struct Failover {
    Clock::time_point begin, end = Clock::time_point::max();
    uint64_t calls = 0;  // that ended before it; once it is over: in it
  };

  uint32_t Now() const;
  bool MayBeForgotten(uint32_t ran_at) const;
  Outcome Judge(const Call& call, const KeyAnswer& answer);
  Outcome JudgeAnswered(const Call& call, const KeyAnswer& answer);
  void End(Outcome outcome);

  const Clock::time_point started_ = Clock::now();
  std::vector<Key> keys_;
  std::unordered_map<uint64_t, Call> open_;
  std::atomic<uint64_t> ended_ = 0;
  std::atomic<bool> finished_ = false;
  uint64_t begun_ = 0;
  uint64_t violations_ = 0;
  std::array<uint64_t, kOutcomes> outcomes_{};
  Sums sums_;
  mutable std::mutex mutex_;  // of failovers_
  std::vector<Failover> failovers_;
};

}  // namespace levee::ledger
