// SPDX-License-Identifier: Apache-2.0
#include "policy/slot_ring.h"

#include "base/random.h"
#include "gtest/gtest.h"

namespace levee {
namespace {

// Slot 7 with as many events as can be counted.
constexpr SlotCount kFullSlot(uint64_t{7} << 28 | ((uint64_t{1} << 28) - 1));

TEST(SlotCount, AFullCountStaysFullInItsSlot) {
  EXPECT_EQ(kFullSlot.Incremented(7).word(), kFullSlot.word());
  EXPECT_EQ(kFullSlot.Incremented(6).word(), kFullSlot.word());
}

TEST(SlotCount, ALaterSlotBeginsAtOneAlsoAfterAFullOne) {
  EXPECT_EQ(kFullSlot.Incremented(19).slot(), 19u);
  EXPECT_EQ(kFullSlot.Incremented(19).count(), 1);
}

TEST(SlotCursor, ItAgreesWithTheDivisionWhereverTimeGoes) {
  Random random(1);
  for (const int64_t slot_nanos : {int64_t{1'000'000}, int64_t{333'333'334}}) {
    SlotCursor cursor;
    int64_t nanos = -slot_nanos;
    for (int i = 0; i < 10'000; ++i) {
      const Instant now = Instant::FromNanos(nanos);
      ASSERT_EQ(cursor.At(now, slot_nanos), SlotAt(now, slot_nanos)) << nanos;
      // Mostly within a slot, at times beyond it, and now and then a little back.
      nanos += static_cast<int64_t>(random.Below(static_cast<uint64_t>(slot_nanos))) / 3;
      if (random.Below(100) == 0) nanos += 5 * slot_nanos;
      if (random.Below(100) == 0) nanos -= slot_nanos / 2;
    }
  }
}

}  // namespace
}  // namespace levee
