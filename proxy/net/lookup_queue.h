// SPDX-License-Identifier: Apache-2.0
// Which look-up of a name runs next.
#pragma once

#include <cstdint>
#include <map>

#include "base/intrusive_list.h"

namespace levee::net {

// On whose behalf a name is looked up: the number of a caller's connection, or 0 for a name that
// the configuration gives or that has had an address before.
using Asker = uint64_t;
inline constexpr Asker kKnownName = 0;

// Bounds the look-ups that run at a time, and orders those that wait: known names first, then one
// for each caller's connection in turn, and last those that no call waits for any more. So whoever
// asks for names that no server answers for keeps others from neither known names nor new ones,
// also if he closes each connection at once. A value without clock; one thread.
class LookupQueue {
 public:
  static constexpr int kMaxRunning = 64;
  static constexpr int kMaxOfNewNames = 48;
  static constexpr int kMaxOfOneCaller = 16;
  static constexpr int kMaxUnwanted = 8;

  // A look-up that waits or runs. It must be ended, or not be waiting, when it is destroyed.
  class Member : public ListLink<Member> {
   public:
    explicit Member(Asker asker) : asker_(asker) {}

   private:
    friend class LookupQueue;
    const Asker asker_;
    bool running_ = false;
    bool wanted_ = true;
  };

  // `member` waits.
  void Add(Member& member);

  // Whether a call waits for `member`, as at first. Says nothing of known names. It goes on if it
  // runs.
  void SetWanted(Member& member, bool wanted);

  // Returns the next one to run, which runs from now on; nullptr if none may.
  Member* Next();

  // `member` does not wait or run any more.
  void End(Member& member);

 private:
  struct Turn {
    IntrusiveList<Member> waiting;
    int running = 0;
  };

  using Turns = std::map<Asker, Turn>;

  bool MayRun(const Turn& turn, Asker asker) const;
  bool MayRunNew() const { return running_new_ < kMaxOfNewNames; }
  Member* Start(Member& member);
  void EraseUnused(Turns::iterator turn);

  Turns turns_;                     // of those that have a member that is wanted or runs
  IntrusiveList<Member> unwanted_;  // that wait
  Asker last_ = kKnownName;         // whose turn it was
  int running_ = 0;
  int running_new_ = 0;
  int running_unwanted_ = 0;
};

}  // namespace levee::net
