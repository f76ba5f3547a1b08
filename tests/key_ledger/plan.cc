// SPDX-License-Identifier: Apache-2.0
#include "key_ledger/plan.h"

#include <algorithm>
#include <array>
#include <utility>

namespace levee::ledger {
namespace {

constexpr uint32_t kBlock = 2000;
constexpr uint64_t kMostCalls = 5;  // of a key
constexpr uint64_t kLongestMillis = 40;

// Of a million.
constexpr uint64_t kGiveUps = 10'000;
constexpr std::array<std::pair<Fate, uint64_t>, kFates - 1> kShares = {{
    {Fate::kSlowAnswer, 100'000},
    {Fate::kFailure, 20'000},
    {Fate::kTryAgain, 10'000},
    {Fate::kReset, 5'000},
    {Fate::kKill, 3'000},
}};

}  // namespace

std::string_view NameOf(Fate fate) {
  constexpr std::array<std::string_view, kFates> kNames = {"answer",    "slow answer", "failure",
                                                           "try again", "reset",       "kill"};
  return kNames[static_cast<size_t>(fate)];
}

KeyPlan::KeyPlan(uint64_t seed, uint32_t keys) : seed_(seed), keys_(keys), random_(seed) {}

std::vector<KeyCall> KeyPlan::NextBlock() {
  std::vector<KeyCall> calls;
  const uint32_t end = std::min(keys_, next_ + kBlock);
  for (; next_ < end; ++next_) {
    const uint64_t times = 1 + random_.Below(kMostCalls);
    for (uint64_t i = 0; i < times; ++i) {
      calls.push_back({.key = next_, .gives_up = random_.Below(1'000'000) < kGiveUps});
    }
  }
  for (size_t i = calls.size(); i > 1; --i) std::swap(calls[i - 1], calls[random_.Below(i)]);
  return calls;
}

Work KeyPlan::WorkOf(uint32_t key, int arrival) const {
  Random random(seed_ ^
                (uint64_t{key} << 8 | static_cast<uint64_t>(arrival & 0xff)) * 0x9e3779b97f4a7c15);
  uint64_t draw = random.Below(1'000'000);
  Work work;
  for (const auto& [fate, share] : kShares) {
    if (draw < share) {
      work.fate = fate;
      break;
    }
    draw -= share;
  }
  work.moment = static_cast<Moment>(random.Below(kMoments));
  work.delay_ms = static_cast<int>(1 + random.Below(kLongestMillis));
  return work;
}

}  // namespace levee::ledger
