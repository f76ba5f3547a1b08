// SPDX-License-Identifier: Apache-2.0
// Calls that failed a moment ago, by which the retry of an application's own loop is recognised.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/node_hash_map.h"
#include "absl/time/time.h"
#include "base/instant.h"
#include "base/intrusive_list.h"
#include "wire/status.h"

namespace levee {

// The calls of one loop have a destination in common, and this, which is known before their
// message: the method, and the trace id. Without a trace id the connection that they came on stands
// in its place.
struct CallKin {
  uint64_t hash = 0;
  bool traced = false;

  friend bool operator==(const CallKin&, const CallKin&) = default;
  template <typename H>
  friend H AbslHashValue(H state, const CallKin& kin) {
    return H::combine(std::move(state), kin.hash, kin.traced);
  }
};

// The first gRPC message of a call. Only its first bytes are hashed.
struct FirstMessage {
  uint64_t hash = 0;
  bool empty = false;  // it has no payload, or there is none
};

// The failures after which a client library's loop calls again. The other codes are answers of the
// application, which a loop does not wait to change.
inline constexpr StatusCodeSet kLoopCodes = {StatusCode::kUnavailable,
                                             StatusCode::kResourceExhausted, StatusCode::kInternal,
                                             StatusCode::kUnknown, StatusCode::kDeadlineExceeded};

// Bounds how many failed calls the tables of one worker keep together. One thread.
struct FailedCallsRoom {
  static constexpr size_t kCalls = 20'000;
  size_t left = kCalls;
};

// The calls to one destination, on one worker, that failed a moment ago. A call is taken for the
// application's own retry if an equal one failed within kTracedFor. Without a trace id that says
// less, since many callers may send the same message. So there the table asks for more: both calls
// came on one connection, where another message failed, too; the second one came within
// kUntracedFor, and within kPollGap of the last equal one's end, as a poller would not; its message
// is not empty; there were at most kUntracedRetries before it; and no call to the destination has
// succeeded since the first one began.
//
// Refusals must not keep themselves alive. A refused call does not make its entry any younger, and
// after kRefusals refusals in a row the next equal call goes: it finds out whether the upstream is
// back.
//
// No clock. `now` never goes backward. One thread.
class FailedCalls {
 public:
  static constexpr absl::Duration kTracedFor = absl::Seconds(10);
  static constexpr absl::Duration kUntracedFor = absl::Seconds(2);
  static constexpr absl::Duration kPollGap = absl::Milliseconds(250);
  static constexpr int kRefusals = 9;
  static constexpr int kUntracedRetries = 4;  // gRPC, too, allows a call five attempts

  // `room` outlives the table.
  explicit FailedCalls(FailedCallsRoom& room) : room_(room) {}
  ~FailedCalls() { room_.left += entries_.size(); }
  FailedCalls(const FailedCalls&) = delete;
  FailedCalls& operator=(const FailedCalls&) = delete;

  // Then it needs to be told of nothing but OnFailed.
  bool empty() const { return entries_.empty(); }

  // Whether a call of this kin may turn out to be equal to one that failed, once its message is
  // known.
  bool MayHave(const CallKin& kin, Instant now);

  enum class Likeness {
    kNone,       // no equal call failed
    kMaybePoll,  // one did, but this is a call like any other
    kRetry,      // the application's retry
  };
  Likeness Find(const CallKin& kin, const FirstMessage& message, Instant now);

  // A call that began at `begun` ended in failure. Returns false if there was no room, so that an
  // older call went for it, or it is not kept.
  bool OnFailed(const CallKin& kin, const FirstMessage& message, Instant begun, Instant now);

  // A call that Find took for a retry was refused.
  void OnRefused(const CallKin& kin, const FirstMessage& message, Instant now);

  // A call that Find took for a retry was answered.
  void OnAnswered(const CallKin& kin, const FirstMessage& message);

  // A call succeeded.
  void OnSuccess(Instant now) { succeeded_at_ = now; }

 private:
  struct Entry : ListLink<Entry> {
    uint64_t id = 0;
    CallKin kin;
    Instant failed_at;
    Instant seen_at;   // the end of the last equal call
    int refusals = 0;  // since the failure
    int repeated = 0;  // equal calls that were refused or failed after the first
  };

  IntrusiveList<Entry>& ListOf(const CallKin& kin) { return kin.traced ? traced_ : untraced_; }
  Entry* Get(const CallKin& kin, const FirstMessage& message);
  void ForgetOld(Instant now);
  bool MakeRoom();
  void Erase(Entry& entry);

  FailedCallsRoom& room_;
  absl::node_hash_map<uint64_t, Entry> entries_;
  absl::flat_hash_map<CallKin, int> kin_;  // how many entries each has
  IntrusiveList<Entry> traced_;            // the oldest failure first; likewise untraced_
  IntrusiveList<Entry> untraced_;
  Instant succeeded_at_;  // the last success while there were entries
};

}  // namespace levee
