// SPDX-License-Identifier: Apache-2.0
#include "ledger/schedule.h"

#include <algorithm>

namespace levee::ledger {
namespace {

constexpr std::array<std::string_view, kMethods> kPaths = {
    "/ledger.Ledger/Plain",  "/ledger.Ledger/Repeat", "/ledger.Ledger/Never",
    "/ledger.Ledger/Single", "/ledger.Ledger/Small",  "/ledger.Ledger/Hedged",
    "/ledger.Ledger/Waiting"};

constexpr std::array<Allowance, kMethods> kAllowances = {{
    {3, false},
    {4, true},
    {3, false},
    {1, false},
    {4, true},
    {2, true},
    {4, true},
}};

struct Kind {
  std::string_view name;
  uint32_t per_million;  // attempts, in a run of a million calls
  bool heavy;            // takes other calls with it
};

constexpr std::array<Kind, kFaults> kKinds = {{
    {"none", 0, false},
    {"reset", 12'000, false},
    {"refused stream", 6'000, false},
    {"unavailable", 6'000, false},
    {"unavailable, early", 3'000, false},
    {"unavailable, after head", 3'000, false},
    {"pushback", 3'000, false},
    {"failed precondition", 3'000, false},
    {"http 503", 3'000, false},
    {"no grpc-status", 2'000, false},
    {"delay", 500, false},
    {"padding", 5'000, false},
    {"stream window stalls", 3'000, false},
    {"connection kill", 200, true},
    {"connection close", 100, true},
    {"goaway before", 100, true},
    {"goaway after", 100, true},
    {"goaway, then loss", 100, true},
    {"half-open", 20, true},
    {"1-byte reads", 50, true},
    {"1-byte writes", 50, true},
    {"connection window stalls", 50, true},
    {"one stream", 50, true},
    {"garbage", 50, true},
    {"SIGTERM", 20, true},
    {"restart", 20, true},
    {"status", 0, false},
    {"silence", 0, false},
}};

constexpr std::array<std::string_view, kHabits> kHabitNames = {"none", "two parts", "slow reader",
                                                               "cancel", "hang up"};
constexpr std::array<std::string_view, kMoments> kMomentNames = {
    "head", "request data", "request end", "answer head", "answer data", "trailers"};

// Out of a hundred calls.
constexpr std::array<uint32_t, kMethods> kMethodShares = {40, 20, 15, 10, 5, 5, 5};

constexpr uint64_t kMillion = 1'000'000;
constexpr uint64_t kMostScale = 10;
constexpr uint32_t kHangUpsPerMillion = 50;

}  // namespace

std::string_view PathOf(Method method) { return kPaths[static_cast<size_t>(method)]; }
const Allowance& AllowanceOf(Method method) { return kAllowances[static_cast<size_t>(method)]; }
std::string_view NameOf(Fault fault) { return kKinds[static_cast<size_t>(fault)].name; }
std::string_view NameOf(Habit habit) { return kHabitNames[static_cast<size_t>(habit)]; }
std::string_view NameOf(Moment moment) { return kMomentNames[static_cast<size_t>(moment)]; }

// splitmix64 of all three.
uint64_t DrawOf(uint64_t seed, uint64_t id, uint64_t salt) {
  uint64_t x = seed + id * 0x9e3779b97f4a7c15 + salt * 0xd1b54a32d192ed03;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

size_t DrawSize(uint64_t draw) {
  const uint64_t kind = draw % 100;
  const uint64_t rest = draw / 100;
  if (kind < 5) return 0;
  if (kind < 75) return rest % 256;
  if (kind < 95) return rest % 2048;
  return rest % (20 * 1024 + 1);
}

LedgerSchedule::LedgerSchedule(uint64_t seed, uint64_t calls) : seed_(seed) {
  const uint64_t scale =
      std::clamp<uint64_t>(kMillion / std::max<uint64_t>(calls, 1), 1, kMostScale);
  for (size_t i = 0; i < kFaults; ++i) {
    per_million_[i] = kKinds[i].per_million * static_cast<uint32_t>(kKinds[i].heavy ? scale : 1);
  }
  hang_ups_per_million_ = kHangUpsPerMillion * static_cast<uint32_t>(scale);
}

CallShape LedgerSchedule::CallOf(uint64_t id) const {
  CallShape shape{};
  uint64_t share = Draw(id, 1) % 100;
  size_t method = 0;
  while (share >= kMethodShares[method]) share -= kMethodShares[method++];
  shape.method = static_cast<Method>(method);
  shape.request_bytes = DrawSize(Draw(id, 2));
  shape.answer_bytes = DrawSize(Draw(id, 3));
  const uint64_t habit = Draw(id, 4) % kMillion;
  shape.habit = habit < hang_ups_per_million_ ? Habit::kHangUp
                : habit < 10'000              ? Habit::kCancel
                : habit < 40'000              ? Habit::kTwoParts
                : habit < 45'000              ? Habit::kSlowReader
                                              : Habit::kNone;
  shape.habit_ms = static_cast<int>(Draw(id, 5) % 20);
  shape.allowed = &AllowanceOf(shape.method);
  shape.content = id;
  shape.trace = id;
  return shape;
}

// Where attempts of one call run beside each other, faults matter that meet several of them.
Fault LedgerSchedule::FaultOfWaiting(uint64_t draw) {
  constexpr std::array<Fault, 7> kMany = {Fault::kUnavailable,
                                          Fault::kUnavailable,
                                          Fault::kEarlyUnavailable,
                                          Fault::kLateUnavailable,
                                          Fault::kRefuse,
                                          Fault::kPrecondition,
                                          Fault::kReset};
  return draw % 100 < 40 ? kMany[draw / 100 % kMany.size()] : Fault::kNone;
}

FaultShape LedgerSchedule::FaultOf(uint64_t id, int start) const {
  const uint64_t attempt = static_cast<uint64_t>(start) * 16 + 32;
  FaultShape shape{};
  uint64_t draw = Draw(id, attempt) % kMillion;
  for (size_t i = 0; i < kFaults; ++i) {
    if (draw < per_million_[i]) {
      shape.fault = static_cast<Fault>(i);
      break;
    }
    draw -= per_million_[i];
  }
  if (shape.fault == Fault::kNone && CallOf(id).method == Method::kWaiting) {
    shape.fault = FaultOfWaiting(Draw(id, attempt + 3));
  }
  shape.moment = static_cast<Moment>(Draw(id, attempt + 1) % kMoments);
  constexpr std::array<uint32_t, 4> kErrors = {2, 8, 11, 0};  // INTERNAL_ERROR, CANCEL, CALM, NO
  shape.error = kErrors[Draw(id, attempt + 2) % kErrors.size()];
  return shape;
}

}  // namespace levee::ledger
