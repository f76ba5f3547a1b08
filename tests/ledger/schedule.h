// SPDX-License-Identifier: Apache-2.0
// The plan of every call of a ledger, with its faults: pure functions of the seed and the call's
// number, so that a run can be repeated and no side has to tell the other.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

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

std::string_view PathOf(Method method);

// What a policy allows to become of a call.
struct Allowance {
  int attempts;                     // transparent ones excluded
  bool idempotent;                  // may run more than once
  std::chrono::seconds longest{5};  // until it ends
  bool transparent_once = true;     // at most one attempt is made for what surely was not processed
};
// Of the policy that the ledger's configuration has for the method.
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
  // Only in random calls.
  kStatus,   // any status, maybe with advice
  kSilence,  // nothing ever comes
};
inline constexpr size_t kFaults = 28;
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
  const Allowance* allowed = nullptr;
  // The call whose request and answer it has: itself, or one that it repeats.
  uint64_t content = 0;
  bool may_be_replayed = false;  // may have the answer of another call of the same content
  int previous = 0;              // attempts that its caller says to have made before
  uint64_t trace = 0;
  std::string authority = "ledger";
  std::vector<std::pair<std::string, std::string>> metadata;
};

// A status that an upstream answers.
struct Ending {
  int status = 14;
  bool head_first = false;    // not trailers-only
  std::string_view pushback;  // grpc-retry-pushback-ms; empty: none
  std::string_view mark;      // levee-overload; empty: none
};

struct FaultShape {
  Fault fault;
  Moment moment;
  uint32_t error = 0;  // of RST_STREAM
  int delay_ms = 400;  // before the answer, of kDelay and kStatus
  std::string_view http = "503";
  Ending ending;  // of kStatus
};

class Schedule {
 public:
  virtual ~Schedule() = default;

  virtual CallShape CallOf(uint64_t id) const = 0;

  // `start`: how many attempts of the call endpoints have seen before this one.
  virtual FaultShape FaultOf(uint64_t id, int start) const = 0;
};

// Any number, which the three decide.
uint64_t DrawOf(uint64_t seed, uint64_t id, uint64_t salt);

// The bytes of a message, most often few.
size_t DrawSize(uint64_t draw);

// What the policies of the ledger meet: faults seldom, and each of a kind that they were made for.
class LedgerSchedule final : public Schedule {
 public:
  // `calls`: how many there are to be. Of few calls a larger share meets faults that take whole
  // connections, so that each kind occurs.
  LedgerSchedule(uint64_t seed, uint64_t calls);

  CallShape CallOf(uint64_t id) const override;
  FaultShape FaultOf(uint64_t id, int start) const override;

 private:
  static Fault FaultOfWaiting(uint64_t draw);
  uint64_t Draw(uint64_t id, uint64_t salt) const { return DrawOf(seed_, id, salt); }

  uint64_t seed_;
  std::array<uint32_t, kFaults> per_million_;
  uint32_t hang_ups_per_million_;
};

}  // namespace levee::ledger
