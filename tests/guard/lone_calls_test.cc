// SPDX-License-Identifier: Apache-2.0
#include "guard/lone_calls.h"

#include <memory>
#include <vector>

#include "gtest/gtest.h"

namespace levee {
namespace {

constexpr int kTried = 1000;

// Returns how many calls of each of `callers` have a place at a time, first of the first.
std::vector<int> Room(int slots, const std::vector<char>& callers) {
  LoneCalls calls;
  std::vector<std::unique_ptr<LoneCalls::Place>> places;
  std::vector<int> room;
  for (const char caller : callers) {
    int& taken = room.emplace_back(0);
    for (int i = 0; i < kTried; ++i) {
      places.push_back(calls.Enter(caller, slots));
      taken += places.back() != nullptr;
    }
  }
  return room;
}

TEST(LoneCalls, OfACallerHoldAQuarterOfTheSlotsAndOfAllHalf) {
  using Counts = std::vector<int>;
  EXPECT_EQ(Room(20, {'a', 'b', 'c'}), Counts({5, 5, 0}));
  EXPECT_EQ(Room(6, {'a', 'b', 'c', 'd'}), Counts({1, 1, 1, 0}));
  EXPECT_EQ(Room(3, {'a', 'b'}), Counts({1, 0}));
  EXPECT_EQ(Room(2, {'a', 'b'}), Counts({1, 0}));
  EXPECT_EQ(Room(1, {'a', 'b'}), Counts({0, 0})) << "the only slot is for those who wait";
}

TEST(LoneCalls, AreBoundedWithoutALimitAndByAHighOne) {
  for (const int slots : {0, 400, 5000}) {
    EXPECT_EQ(Room(slots, {'a', 'b', 'c'}), std::vector<int>({100, 100, 0})) << slots;
  }
}

TEST(LoneCalls, APlaceThatIsGivenBackIsForAnother) {
  LoneCalls calls;
  auto first = calls.Enter('a', 4);
  EXPECT_EQ(calls.Enter('a', 4), nullptr);
  auto second = calls.Enter('b', 4);
  EXPECT_EQ(calls.Enter('c', 4), nullptr);
  first.reset();
  EXPECT_NE(calls.Enter('c', 4), nullptr);
}

}  // namespace
}  // namespace levee
