// SPDX-License-Identifier: Apache-2.0
#include "key_ledger/key_book.h"

#include <algorithm>
#include <cstdio>

namespace levee::ledger {
namespace {

// An answer is in the store this long after the work at the latest, if it gets there at all: the
// work's delay, and the claim of a second in which storing is repeated.
constexpr Millis kStoredWithin{2'000};

// The claim of a call is made this long before its work at most.
constexpr Millis kClaimedBefore{1'000};

constexpr uint64_t kMostTold = 20;

constexpr std::string_view kStoreAway =
    "the store of idempotency keys does not answer; the call has not run";
constexpr std::string_view kLostText = "it may have run";

// gRPC's codes.
constexpr int kCancelled = 1;
constexpr int kUnknown = 2;
constexpr int kDeadlineExceeded = 4;
constexpr int kFailedPrecondition = 9;
constexpr int kInternal = 13;
constexpr int kUnavailable = 14;

}  // namespace

std::string BodyOf(uint32_t key, int run) {
  std::string body = "receipt of key " + std::to_string(key) + ", run " + std::to_string(run);
  for (uint32_t i = 0; i < 16 + key % 64; ++i) body.push_back(static_cast<char>(key + i * 37));
  return body;
}

std::string FailureOf(uint32_t key, int run) {
  return "no account for key " + std::to_string(key) + ", run " + std::to_string(run);
}

uint64_t KeyBook::Begin(uint32_t key) {
  const uint64_t call = ++begun_;
  open_[call] = {.key = key};
  return call;
}

uint32_t KeyBook::Now() const {
  return static_cast<uint32_t>(std::chrono::duration_cast<Millis>(Clock::now() - started_).count());
}

void KeyBook::BeginFailover() {
  const std::lock_guard lock(mutex_);
  failovers_.push_back({.begin = Clock::now(), .calls = ended_});
}

void KeyBook::EndFailover() {
  const std::lock_guard lock(mutex_);
  failovers_.back().end = Clock::now();
  failovers_.back().calls = ended_ - failovers_.back().calls;
}

void KeyBook::Finish() {
  finished_ = true;
  ++ended_;  // Those who wait look up only at another number.
  ended_.notify_all();
}

void KeyBook::Await(uint64_t calls) const {
  for (uint64_t seen = ended_; seen < calls && !finished_; seen = ended_) ended_.wait(seen);
}

bool KeyBook::MayBeForgotten(uint32_t ran_at) const {
  const std::lock_guard lock(mutex_);
  const auto at = started_ + Millis(ran_at);
  return std::ranges::any_of(failovers_, [at](const Failover& failover) {
    return at + kStoredWithin >= failover.begin && at - kClaimedBefore <= failover.end;
  });
}

int KeyBook::Executed(uint64_t call, uint32_t number) {
  Key& key = keys_[number];
  ++sums_.runs;
  if (key.runs > 0) {
    ++sums_.twice;
    if (!MayBeForgotten(key.ran_at)) {
      Violate("key " + std::to_string(number) + " ran again, and no failover lost it");
    }
  }
  key.ran_at = Now();
  const int run = ++key.runs;
  const auto found = open_.find(call);
  if (found == open_.end()) return run;  // Its caller has gone.
  if (found->second.run != 0) Violate("call " + std::to_string(call) + " ran twice");
  found->second.run = run;
  return run;
}

Outcome KeyBook::JudgeAnswered(const Call& call, const KeyAnswer& answer) {
  const std::string where = "key " + std::to_string(call.key);
  const bool right = answer.status == 0 ? answer.body == BodyOf(call.key, answer.run)
                                        : answer.message == FailureOf(call.key, answer.run);
  if (!right) Violate(where + " got an answer that is not its own");
  if (answer.run > keys_[call.key].runs) Violate(where + " got the answer of no run");
  if (answer.replayed && call.run != 0) Violate(where + " ran, and its answer is called a replay");
  if (!answer.replayed && call.run != answer.run) {
    Violate(where + " got the answer of another run, which is not called a replay");
  }
  return answer.replayed ? Outcome::kReplayed : Outcome::kRan;
}

Outcome KeyBook::Judge(const Call& call, const KeyAnswer& answer) {
  if (answer.status == 0 || answer.status == kFailureStatus) return JudgeAnswered(call, answer);
  const bool away = answer.status == kUnavailable && answer.message == kStoreAway;
  if (away || (answer.status == kUnavailable && answer.message == "try again")) {
    ++(away ? sums_.store_away : sums_.try_again);
    if (call.run != 0) Violate("key " + std::to_string(call.key) + " ran, and was refused");
    return Outcome::kRefused;
  }
  switch (answer.status) {
    case kFailedPrecondition:
      ++sums_.told;
      if (call.run != 0 || answer.message.find(kLostText) == std::string::npos) {
        Violate("key " + std::to_string(call.key) + ": " + answer.message);
      }
      break;
    case kDeadlineExceeded:
      ++sums_.late;
      break;
    case kCancelled:
    case kUnknown:
    case kInternal:
    case kUnavailable:
      ++sums_.cut;
      break;
    default:
      Violate("status " + std::to_string(answer.status) + ": " + answer.message);
  }
  return Outcome::kLost;
}

void KeyBook::End(Outcome outcome) {
  ++outcomes_[static_cast<size_t>(outcome)];
  ++ended_;
  ended_.notify_all();
}

bool KeyBook::Ended(uint64_t number, const KeyAnswer& answer) {
  const auto found = open_.find(number);
  if (found == open_.end()) {
    Violate("call " + std::to_string(number) + " ended twice");
    return false;
  }
  const Call call = found->second;
  open_.erase(found);
  End(Judge(call, answer));
  return answer.status == kUnavailable && answer.message == kStoreAway;
}

void KeyBook::GaveUp(uint64_t call) {
  if (open_.erase(call) == 0) return;
  ++sums_.gave_up;
  End(Outcome::kLost);
}

KeyBook::Sums KeyBook::Total() const {
  Sums total = sums_;
  for (const Key& key : keys_) total.keys_run += key.runs > 0;
  const std::lock_guard lock(mutex_);
  for (const Failover& failover : failovers_) {
    if (failover.end != Clock::time_point::max()) total.exposed += failover.calls + kMostOpen;
  }
  return total;
}

void KeyBook::Violate(const std::string& what) {
  if (++violations_ <= kMostTold) std::printf("VIOLATION %s\n", what.c_str());
}

}  // namespace levee::ledger
