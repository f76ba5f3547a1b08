// SPDX-License-Identifier: Apache-2.0
// One thread's event loop, on libuv.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/time/time.h"
#include "base/block_cache.h"
#include "base/instant.h"
#include "base/read_blocks.h"

namespace levee::net {

// Reads the monotonic clock. For use outside a loop; within one, EventLoop::now() is cheaper.
Instant ReadClock();

// Reads the wall clock, for texts that people read. It jumps.
absl::Time WallClock();

// Returns the version of the event library in use.
const char* LibraryVersion();

// Returns 64 bits from the kernel's random source, to seed generators.
uint64_t RandomSeed();

// Called at the end of every turn of a loop, after all I/O of that turn.
class TurnHandler {
 public:
  // Returns the latest instant for the next turn; Infinite: the next turn comes with the next I/O.
  virtual Instant OnTurnEnd(Instant now) = 0;

 protected:
  ~TurnHandler() = default;
};

// Called when a file descriptor is ready (level-triggered).
class ReadyHandler {
 public:
  virtual void OnReady(bool readable, bool writable) = 0;

 protected:
  ~ReadyHandler() = default;
};

// All functions except Post and Stop must be called from the thread that calls Run (or before Run).
class EventLoop {
 public:
  EventLoop();
  ~EventLoop();
  EventLoop(const EventLoop&) = delete;
  EventLoop& operator=(const EventLoop&) = delete;

  // `handler` may be nullptr.
  void SetTurnHandler(TurnHandler* handler);

  // Runs turns until Stop. May be called again.
  void Run();

  // Ends Run after the current turn. Any thread.
  void Stop();

  // Runs `task` in this loop's thread; tasks run in the order of their posting. Any thread. A task
  // that is posted after Run has returned is destroyed without being run.
  void Post(absl::AnyInvocable<void()> task);

  // The start of the current turn: one clock reading per turn.
  Instant now() {
    if (!turn_started_) StartTurn();
    return now_;
  }

  // Calls `handler` in the loop when the process gets the signal. At most one handler per signal.
  void OnSignal(int signal, std::function<void()> handler);

  // Memory to read into, shared by all sockets of the loop.
  ReadBlocks& read_blocks() { return read_blocks_; }

  // Bounds what all sockets of the loop read in a turn, which is unbounded at first: the turn ends
  // when so much was read, and the sockets that are ready still have theirs in the next one. One
  // read may go beyond it. It ends as well when what this thread makes of the bytes has used up
  // what AllowBlocks allowed, which the turn's handler then has to allow anew.
  void SetReadAllowance(int64_t bytes) { read_allowance_ = bytes; }
  // Bounds what one socket reads at a time, besides its own bound.
  void SetReadMost(size_t bytes) { read_most_ = bytes; }
  size_t read_most() const { return read_most_; }
  void CountRead(size_t bytes) { read_in_turn_ += static_cast<int64_t>(bytes); }

  // Watches one descriptor for as long as it lives; does not own it.
  class Watch {
   public:
    Watch(EventLoop& loop, int fd, ReadyHandler& handler);
    ~Watch();
    Watch(const Watch&) = delete;
    Watch& operator=(const Watch&) = delete;

    // Chooses the events to report; none at first.
    void Set(bool read, bool write);

   private:
    struct State;
    State* state_;
  };

  struct Internals;
  Internals& internals() { return *internals_; }

 private:
  static constexpr size_t kReadBytes = 256 * 1024;

  friend struct Internals;

  bool TurnIsFull() const { return read_in_turn_ >= read_allowance_ || BlocksUsedUp(); }
  void StartTurn();
  void RunPosted();
  void EndTurn();

  std::unique_ptr<Internals> internals_;
  TurnHandler* turn_handler_ = nullptr;
  ReadBlocks read_blocks_{kReadBytes};
  Instant now_;
  bool turn_started_ = false;
  int64_t read_allowance_ = INT64_MAX;
  int64_t read_in_turn_ = 0;
  size_t read_most_ = SIZE_MAX;

  std::mutex posted_mutex_;
  std::vector<absl::AnyInvocable<void()>> posted_;
  bool stop_ = false;
};

}  // namespace levee::net
