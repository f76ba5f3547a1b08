// SPDX-License-Identifier: Apache-2.0
// The plan of every call of the ledger, with its faults: pure functions of the seed and the call's
// number, so that a run can be repeated and no side has to tell the other.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace levee::ledger {

// One method per policy of the sidecar's configuration.
enum class Method : uint8_t {
  kPlain,    // three attempts; not idempotent; the one with a tight retry budget
  kRepeat,   // four attempts with attempt_timeout; idempotent
  kNever,    // three attempts, only where surely not processed
  kSingle,   // one attempt
  kSmall,    // like kRepeat, with a replay buffer that large bodies do not fit into
  kHedged,   // two attempts at a time; idempotent
  kWaiting,  // up to four at a time, with a budget for which retries wait; idempotent
};
inline constexpr size_t kMethods = 7;

// The retries that the policy of a method allows.
struct Allowance {
  std::string_view path;
  int attempts;     // transparent ones excluded
  bool idempotent;  // may run more than once
};
const Allowance& AllowanceOf(Method method);

// The fault of an attempt at an endpoint, or of the endpoint because of it.
enum class Fault : uint8_t {
  kNone,
  // The stream's.
  kReset,             // RST_STREAM at a moment
  kRefuse,            // REFUSED_STREAM
  kUnavailable,       // trailers-only, after the request
  kEarlyUnavailable,  // trailers-only, before the request is there
  kLateUnavailable,   // head, then trailers, no message
  kPushback,          // trailers-only with a delay that the server asks for
  kPrecondition,      // a status that no policy lists, of a request that was processed
  kHttp503,           // no gRPC at all
  kNoStatus,          // a gRPC answer that ends without grpc-status
  kDelay,             // longer than attempt_timeout
  kPadding,           // on every DATA frame
  kStreamStall,       // no window for the rest of the request for a while
  // The connection's.
  kKill,             // TCP reset at a moment
  kClose,            // end of stream without GOAWAY at a moment
  kGoawayBefore,     // that excludes the stream
  kGoawayAfter,      // that includes it; what runs is finished
  kGoawayLoss,       // that includes it, and then the connection is lost
  kHalfOpen,         // neither reads nor writes any more, nor closes
  kByteReads,        // reads one byte at a time for a while
  kByteWrites,       // writes one byte at a time for a while
  kConnectionStall,  // no window for the whole connection for a while
  kOneStream,        // SETTINGS_MAX_CONCURRENT_STREAMS 1 for a while
  kGarbage,          // a frame that breaks the protocol
  // The endpoint's.
  kTerminate,  // an orderly stop as by SIGTERM: no new connections, GOAWAY, and away
  kRestart,    // everything is dropped at once
};
inline constexpr size_t kFaults = 26;
std::string_view NameOf(Fault fault);

// The caller's own fault in its call.
enum class Habit : uint8_t {
  kNone,
  kTwoParts,    // the second half of the request comes later
  kSlowReader,  // gives window for the answer only after a while
  kCancel,      // RST_STREAM(CANCEL) after a while
  kHangUp,      // resets its whole connection
};
inline constexpr size_t kHabits = 5;
std::string_view NameOf(Habit habit);

// The moments at which an attempt can be cut.
enum class Moment : uint8_t {
  kHead,
  kRequestData,
  kRequestEnd,
  kAnswerHead,
  kAnswerData,
  kTrailers
};
inline constexpr size_t kMoments = 6;
std::string_view NameOf(Moment moment);

struct CallShape {
  Method method;
  Habit habit;
  size_t request_bytes;  // of the message, without its prefix
  size_t answer_bytes;
  int habit_ms;  // what the habit's "after a while" is
};

struct FaultShape {
  Fault fault;
  Moment moment;
  uint32_t error;  // of RST_STREAM
};

class Schedule {
 public:
  // `calls`: how many there are to be. Of few calls a larger share meets faults that take whole
  // connections, so that each kind occurs.
  Schedule(uint64_t seed, uint64_t calls);

  CallShape CallOf(uint64_t id) const;

  // `start`: how many attempts of the call endpoints have seen before this one.
  FaultShape FaultOf(uint64_t id, int start) const;

 private:
  static Fault FaultOfWaiting(uint64_t draw);
  uint64_t Draw(uint64_t id, uint64_t salt) const;

  uint64_t seed_;
  std::array<uint32_t, kFaults> per_million_;
  uint32_t hang_ups_per_million_;
};

}  // namespace levee::ledger
