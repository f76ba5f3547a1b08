// SPDX-License-Identifier: Apache-2.0
// The plan of the ledger of keys: what callers send, and what becomes of it at the application.
// Pure functions of the seed, so that no side has to tell the other.
#pragma once

#include <cstdint>
#include <vector>

#include "base/random.h"
#include "ledger/schedule.h"

namespace levee::ledger {

// What the application does with a request.
enum class Fate : uint8_t {
  kAnswer,      // its work, and answers OK
  kSlowAnswer,  // the same, later
  kFailure,     // its work, which fails for good
  kTryAgain,    // nothing, and says so
  kReset,       // resets the stream at a moment, before or after its work
  kKill,        // resets the connection at a moment, before or after its work
};
inline constexpr size_t kFates = 6;
std::string_view NameOf(Fate fate);

struct Work {
  Fate fate = Fate::kAnswer;
  Moment moment = Moment::kHead;  // of kReset and kKill
  int delay_ms = 0;               // of kSlowAnswer
};

// A call that is to be made.
struct KeyCall {
  uint32_t key = 0;
  bool gives_up = false;  // the caller cancels it after a moment
};

// Makes each of the keys 1 to 5 calls, mixed with those of other keys.
class KeyPlan {
 public:
  // `keys`: how many; numbered from 0.
  KeyPlan(uint64_t seed, uint32_t keys);

  // The calls of the next keys, in the order in which they are to be made; none when all keys have
  // had theirs.
  std::vector<KeyCall> NextBlock();

  // `arrival`: how many requests with the key the application has seen before.
  Work WorkOf(uint32_t key, int arrival) const;

 private:
  const uint64_t seed_;
  const uint32_t keys_;
  uint32_t next_ = 0;
  Random random_;
};

}  // namespace levee::ledger
