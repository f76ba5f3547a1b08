// SPDX-License-Identifier: Apache-2.0
#include "policy/slot_ring.h"

#include "gtest/gtest.h"

namespace levee {
namespace {

// Slot 7 with as many events as can be counted.
constexpr SlotCount kFull(uint64_t{7} << 28 | ((uint64_t{1} << 28) - 1));

TEST(SlotCount, AFullCountStaysFullInItsSlot) {
  EXPECT_EQ(kFull.Incremented(7).word(), kFull.word());
  EXPECT_EQ(kFull.Incremented(6).word(), kFull.word());
}

TEST(SlotCount, ALaterSlotBeginsAtOneAlsoAfterAFullOne) {
  EXPECT_EQ(kFull.Incremented(19).slot(), 19u);
  EXPECT_EQ(kFull.Incremented(19).count(), 1);
}

}  // namespace
}  // namespace levee
