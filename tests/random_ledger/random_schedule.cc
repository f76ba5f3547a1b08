// SPDX-License-Identifier: Apache-2.0
#include "random_ledger/random_schedule.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>

#include "ledger/access_log.h"

namespace levee::ledger {
namespace {

// Each call has a deadline, so that each one ends, also under a policy without any.
constexpr Allowance kAnything = {.attempts = kMostAttempts,
                                 .idempotent = true,
                                 .longest = std::chrono::seconds(1),
                                 .transparent_once = false};
constexpr std::array<int, 8> kTimeouts = {1, 20, 50, 100, 100, 200, 300, 1000};

// Calls in which the share of attempts that fail is the same.
constexpr uint64_t kEra = 300;
constexpr std::array<uint64_t, 5> kFailing = {5, 30, 30, 80, 100};  // percent

struct Share {
  Fault fault;
  uint64_t per_mille;  // of the attempts that fail
};
// What takes many calls with it is rare.
constexpr std::array<Share, 24> kShares = {{
    {Fault::kStatus, 400},
    {Fault::kReset, 100},
    {Fault::kRefuse, 80},
    {Fault::kUnavailable, 80},
    {Fault::kEarlyUnavailable, 50},
    {Fault::kLateUnavailable, 30},
    {Fault::kPushback, 20},
    {Fault::kPrecondition, 20},
    {Fault::kHttp503, 40},
    {Fault::kNoStatus, 30},
    {Fault::kDelay, 50},
    {Fault::kPadding, 10},
    {Fault::kStreamStall, 10},
    {Fault::kSilence, 30},
    {Fault::kKill, 10},
    {Fault::kClose, 10},
    {Fault::kGoawayBefore, 8},
    {Fault::kGoawayAfter, 5},
    {Fault::kGoawayLoss, 5},
    {Fault::kConnectionStall, 3},
    {Fault::kOneStream, 3},
    {Fault::kGarbage, 2},
    {Fault::kTerminate, 2},
    {Fault::kRestart, 2},
}};

constexpr std::array<std::string_view, 4> kHttp = {"503", "404", "429", "200"};

template <typename Value, size_t kSize>
Value OneOf(const std::array<Value, kSize>& values, uint64_t draw) {
  return values[draw % kSize];
}

Fault FaultBy(uint64_t draw) {
  uint64_t rest = draw % 1000;
  for (const Share& share : kShares) {
    if (rest < share.per_mille) return share.fault;
    rest -= share.per_mille;
  }
  return Fault::kStatus;
}

Habit HabitBy(uint64_t draw) {
  const uint64_t rest = draw % 1000;
  return rest < 5     ? Habit::kHangUp
         : rest < 65  ? Habit::kCancel
         : rest < 165 ? Habit::kTwoParts
         : rest < 185 ? Habit::kSlowReader
                      : Habit::kNone;
}

}  // namespace

uint64_t RandomSchedule::FirstOf(uint64_t id) const {
  // Of calls that are under way, and of such that have ended.
  constexpr std::array<uint64_t, 3> kBack = {20, 100, 300};
  while (id > kBack.back() && Chance(id, 1, 25)) id -= 1 + Draw(id, 2) % OneOf(kBack, Draw(id, 22));
  return id;
}

uint64_t RandomSchedule::KinOf(uint64_t id) const {
  constexpr uint64_t kBack = 20;
  return id > kBack && Chance(id, 13, 5) ? FirstOf(id - 1 - Draw(id, 23) % kBack) : id;
}

CallShape RandomSchedule::CallOf(uint64_t id) const {
  CallShape shape{};
  shape.content = FirstOf(id);
  const uint64_t kin = KinOf(shape.content);
  shape.method = static_cast<Method>(Draw(kin, 3) % kMethods);
  shape.request_bytes = DrawSize(Draw(shape.content, 4));
  // With room for the number of the call, so that no other request with the key is the same.
  if (kin != shape.content) {
    shape.request_bytes = std::max(shape.request_bytes, sizeof shape.content);
  }
  shape.answer_bytes = DrawSize(Draw(shape.content, 5));
  shape.habit = HabitBy(Draw(id, 6));
  shape.habit_ms = static_cast<int>(Draw(id, 7) % 100);
  shape.allowed = &kAnything;
  shape.trace = id;
  AddMetadata(id, shape);
  return shape;
}

void RandomSchedule::AddMetadata(uint64_t id, CallShape& shape) const {
  const auto add = [&](const char* name, const std::string& value) {
    shape.metadata.emplace_back(name, value);
  };
  const uint64_t timeout = static_cast<uint64_t>(OneOf(kTimeouts, Draw(id, 8)));
  add("grpc-timeout", std::to_string(timeout) + "m");
  // The application makes the same call again, in the same trace, and says so or not.
  if (shape.content != id && Chance(id, 9, 50)) {
    shape.trace = shape.content;
    shape.authority = std::string(kCallAuthority) + std::to_string(id);
  }
  if (Chance(id, 10, 15)) {
    shape.previous = static_cast<int>(1 + Draw(id, 11) % 3);
    add("grpc-previous-rpc-attempts", std::to_string(shape.previous));
  }
  // Some have the key of a call with another request.
  if (const uint64_t key = KinOf(shape.content); Chance(key, 12, 80)) {
    shape.may_be_replayed = true;
    add("idempotency-key", "key-" + std::to_string(key));
  }
  if (Chance(id, 14, 30)) {
    add("levee-priority",
        std::to_string(Draw(id, 15) % 128) + ";u=\"u" + std::to_string(Draw(id, 16) % 3) + "\"");
  }
  if (Chance(id, 17, 50)) add("user", "u" + std::to_string(Draw(id, 18) % 3));
  if (Chance(id, 19, 50)) add("shop", "s" + std::to_string(Draw(id, 20) % 3));
}

Ending RandomSchedule::EndingOf(uint64_t draw) const {
  constexpr std::array<std::string_view, 8> kPushbacks = {"",   "",     "",     "0",
                                                          "30", "none", "9999", "-1"};
  constexpr std::array<std::string_view, 6> kMarks = {"", "", "", "", "service", "endpoint;hops=2"};
  Ending ending;
  if (draw % 2 == 0) ending.status = static_cast<int>(1 + draw / 2 % 16);
  ending.head_first = draw / 32 % 4 == 0;
  ending.pushback = OneOf(kPushbacks, draw / 128);
  ending.mark = OneOf(kMarks, draw / 1024);
  return ending;
}

FaultShape RandomSchedule::FaultOf(uint64_t id, int start) const {
  const uint64_t attempt = static_cast<uint64_t>(start) * 16 + 32;
  FaultShape shape{};
  if (Chance(id, attempt, OneOf(kFailing, Draw(id / kEra, 21)))) {
    shape.fault = FaultBy(Draw(id, attempt + 1));
  } else if (Chance(id, attempt + 2, 50)) {
    shape.fault = Fault::kDelay;
  }
  shape.moment = static_cast<Moment>(Draw(id, attempt + 3) % kMoments);
  shape.error = static_cast<uint32_t>(Draw(id, attempt + 4) % 14);
  constexpr std::array<uint64_t, 4> kMostMs = {1, 10, 50, 100};
  shape.delay_ms = static_cast<int>(Draw(id, attempt + 5) % OneOf(kMostMs, Draw(id, attempt + 6)));
  shape.http = OneOf(kHttp, Draw(id, attempt + 7));
  shape.ending = EndingOf(Draw(id, attempt + 8));
  return shape;
}

}  // namespace levee::ledger
