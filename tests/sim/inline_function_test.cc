// SPDX-License-Identifier: Apache-2.0
// What an InlineFunction holds lives as long as it does, wherever it is moved.
#include "sim/inline_function.h"

#include <array>
#include <memory>
#include <utility>

#include "gtest/gtest.h"

namespace levee {
namespace {

using Function = InlineFunction<int(int), 32>;

TEST(InlineFunction, CallsWhatItHolds) {
  int sum = 0;
  Function add = [&sum](int number) { return sum += number; };
  EXPECT_EQ(add(2), 2);
  EXPECT_EQ(add(3), 5);
}

TEST(InlineFunction, HoldsNothingUntilItIsGivenSomething) {
  Function none;
  EXPECT_FALSE(none);
  EXPECT_FALSE(Function(nullptr));
  none.Set([](int number) { return number; });
  EXPECT_TRUE(none);
  none.Reset();
  EXPECT_FALSE(none);
}

TEST(InlineFunction, WhatItHoldsGoesWithIt) {
  const auto shared = std::make_shared<int>(7);
  Function first = [shared](int number) { return *shared + number; };
  EXPECT_EQ(shared.use_count(), 2);
  Function second = std::move(first);
  EXPECT_EQ(shared.use_count(), 2);
  EXPECT_EQ(second(1), 8);
  Function third;
  third = std::move(second);
  third.Set(std::move(third));  // Moving it to itself changes nothing.
  EXPECT_EQ(third(2), 9);
  third.Set([](int number) { return number; });
  EXPECT_EQ(shared.use_count(), 1);
}

TEST(InlineFunction, HoldsMoreThanItHasRoomFor) {
  const auto shared = std::make_shared<int>(1);
  std::array<int, 100> much{};
  much[99] = 5;
  {
    Function large = [shared, much](int number) { return much[99] + number; };
    Function moved = std::move(large);
    EXPECT_EQ(moved(1), 6);
    EXPECT_EQ(shared.use_count(), 2);
  }
  EXPECT_EQ(shared.use_count(), 1);
}

}  // namespace
}  // namespace levee
