// SPDX-License-Identifier: Apache-2.0
// States that have gone wrong and last: each is told once when it begins and once when it ends.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "absl/time/time.h"
#include "base/instant.h"
#include "log/event.h"
#include "log/event_limiter.h"

namespace levee {

class EventLog;

enum class ConditionKind : uint8_t {
  kUnreachable,
  kEjected,
  kBudgetExhausted,
  kGuardRefuses,
  kStoreAway,
  kOtlpAway,
  kWorkloadApiAway
};
inline constexpr size_t kConditionKinds = 7;

// All conditions of a sidecar. Workers have endpoints of their own, and each finds out by itself
// that one is gone: a condition begins when the first worker reports it, and ends when the last one
// that did takes it back. Any thread.
//
// For each kind, kAtOnce beginnings are written in a row, and after that one for each kSpacing. The
// next beginning that is written says how many were held back. The end of a condition is written if
// its beginning was. A condition whose beginning was held back is written as soon as it is reported
// again and the rule allows it.
//
// The sink is called under the lock of this object, so the events of one condition come in their
// order.
class Conditions {
 public:
  static constexpr int kAtOnce = 10;
  static constexpr absl::Duration kSpacing = absl::Seconds(6);

  // `log` outlives it.
  explicit Conditions(EventLog& log) : log_(log) {}
  Conditions(const Conditions&) = delete;
  Conditions& operator=(const Conditions&) = delete;

 private:
  friend class Condition;

  // Kind; the upstream, the store, the receiver or the socket; the endpoint or authority.
  using Key = std::tuple<ConditionKind, std::string, std::string>;
  struct Lasting {
    int holders = 0;
    bool written = false;
    bool suppressed = false;  // its beginning was held back
    int64_t refused = 0;      // by those who hold it no more
    Instant since;
  };
  using Entry = std::map<Key, Lasting>::iterator;

  Entry Hold(ConditionKind kind, std::string_view owner, std::string_view subject, Instant now);
  void Report(Entry entry, std::string_view reason, const std::vector<LogField>& numbers,
              Instant now);
  void Release(Entry entry, bool ended, int64_t refused, Instant now);

  EventLog& log_;
  std::mutex mutex_;
  std::map<Key, Lasting> lasting_;
  std::array<EventLimiter, kConditionKinds> limiters_{
      EventLimiter(kAtOnce, kSpacing), EventLimiter(kAtOnce, kSpacing),
      EventLimiter(kAtOnce, kSpacing), EventLimiter(kAtOnce, kSpacing),
      EventLimiter(kAtOnce, kSpacing), EventLimiter(kAtOnce, kSpacing),
      EventLimiter(kAtOnce, kSpacing)};
};

// One worker's part in a condition of one endpoint or budget, or the whole of one of a store, of
// the receiver of spans or of a Workload API. One thread.
class Condition {
 public:
  explicit Condition(ConditionKind kind) : kind_(kind) {}

  // As Forget.
  ~Condition() { Forget(); }
  Condition(const Condition&) = delete;
  Condition& operator=(const Condition&) = delete;

  // The condition holds at `now`. To report it again while it lasts is harmless. `owner`: the
  // upstream, the store, the receiver, or the socket. `subject`: the endpoint, or the authority
  // that a budget belongs to; may be empty. `reason`: may be empty. `numbers`: more that the event
  // says. The log outlives the condition.
  void Report(EventLog& log, std::string_view owner, std::string_view subject,
              std::string_view reason, Instant now, const std::vector<LogField>& numbers = {});

  // It holds no more. `refused`: how many calls or retries it cost here, where it costs any. Does
  // nothing unless it was reported.
  void End(Instant now, int64_t refused = 0) { LetGo(/*ended=*/true, refused, now); }

  // Takes the part back without a word: the endpoint or the budget is gone.
  void Forget() { LetGo(/*ended=*/false, /*refused=*/0, Instant()); }

 private:
  void LetGo(bool ended, int64_t refused, Instant now);

  const ConditionKind kind_;
  Conditions* conditions_ = nullptr;  // nullptr: it is not reported
  Conditions::Entry entry_;
};

}  // namespace levee
