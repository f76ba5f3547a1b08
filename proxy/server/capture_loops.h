// SPDX-License-Identifier: Apache-2.0
// Finds connections that the system's firewall has redirected to Levee although Levee has made
// them.
#pragma once

#include <mutex>
#include <optional>
#include <set>
#include <string>

#include "absl/time/time.h"
#include "base/instant.h"
#include "log/event_limiter.h"
#include "log/event_log.h"
#include "net/address.h"
#include "server/accepted_connection.h"

namespace levee {

// Knows the connections that relays have dialled, of all workers. If one of them is accepted as a
// redirected connection, the rules of the firewall do not leave Levee's user alone: each relay
// would dial the next one until no connection is left. Any thread.
class CaptureLoops {
 public:
  // At most one event in this time.
  static constexpr absl::Duration kSpacing = absl::Minutes(1);

  // `log` outlives it.
  explicit CaptureLoops(EventLog& log) : log_(log) {}
  CaptureLoops(const CaptureLoops&) = delete;
  CaptureLoops& operator=(const CaptureLoops&) = delete;

  // One connection, known from Set to the end of this object. One thread.
  class Dialled {
   public:
    explicit Dialled(CaptureLoops& loops) : loops_(loops) {}
    ~Dialled() { Clear(); }
    Dialled(const Dialled&) = delete;
    Dialled& operator=(const Dialled&) = delete;

    // It goes from `from` to `to`. No byte has passed on it yet. Replaces the one before.
    void Set(const net::Address& from, const net::Address& to) {
      Clear();
      const std::lock_guard lock(loops_.mutex_);
      entry_ = loops_.dialled_.insert(NameOf(from, to.Unmapped().ToString()));
    }

   private:
    void Clear() {
      if (!entry_.has_value()) return;
      const std::lock_guard lock(loops_.mutex_);
      loops_.dialled_.erase(*entry_);
      entry_.reset();
    }

    CaptureLoops& loops_;
    std::optional<std::multiset<std::string>::iterator> entry_;
  };

  // Whether a connection from `peer`, which was going to `original` (IP:PORT), is one of them.
  // Asked once its first bytes are there, since by then it is known.
  bool Has(const net::Address& peer, const std::string& original) const {
    const std::lock_guard lock(mutex_);
    return dialled_.contains(NameOf(peer, original));
  }

  // A connection of that origin is Levee's own.
  void Tell(const ConnectionOrigin& origin, Instant now);

  // A call that this sidecar has sent came back on a connection of that origin. Returns what its
  // caller reads.
  const char* OnCameBack(const ConnectionOrigin& origin, Instant now);

 private:
  // No two connections have the same two ends at the same time.
  static std::string NameOf(const net::Address& from, const std::string& to) {
    return from.Unmapped().ToString() + " " + to;
  }

  EventLog& log_;
  mutable std::mutex mutex_;
  std::multiset<std::string> dialled_;
  EventLimiter limiter_{1, kSpacing};
};

}  // namespace levee
