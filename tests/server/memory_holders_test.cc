// SPDX-License-Identifier: Apache-2.0
#include "server/memory_holders.h"

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace levee {
namespace {

using Reason = MemoryHolder::Reason;
using testing::ElementsAre;

constexpr size_t kMuch = 1000;

// Holders by the order in which they were added: "0", "1", ...
class WhoGivesFirst : public testing::Test {
 protected:
  void Call(uint64_t sender, int connection, size_t bytes) {
    holders_.push_back({.bytes = bytes,
                        .connection = &connections_[connection],
                        .sender = sender,
                        .idle = std::nullopt,
                        .victim = {}});
  }
  void Idle(uint64_t sender, int connection, absl::Duration idle) {
    holders_.push_back({.bytes = 10,
                        .connection = &connections_[connection],
                        .sender = sender,
                        .idle = idle,
                        .victim = {}});
  }

  std::vector<std::string> Order() {
    SortByWhoGivesFirst(holders_, [](size_t, size_t) { return kMuch; });
    std::vector<std::string> order;
    for (const MemoryHolder& holder : holders_) {
      const auto connection = static_cast<const int*>(holder.connection) - connections_;
      order.push_back(absl::StrCat(connection, ":",
                                   holder.idle.has_value() ? absl::ToInt64Seconds(*holder.idle)
                                                           : static_cast<int64_t>(holder.bytes)));
    }
    return order;
  }
  Reason ReasonOf(int at) const { return holders_[static_cast<size_t>(at)].reason; }

 private:
  static constexpr int connections_[20]{};
  std::vector<MemoryHolder> holders_;
};

TEST_F(WhoGivesFirst, CallsOnAConnectionThatHoldsMuchGiveFirstAndTheLargestOfThem) {
  Call(1, 1, 600);
  Call(1, 2, 700);
  Call(1, 1, 500);
  Idle(1, 3, absl::Seconds(60));
  EXPECT_THAT(Order(), ElementsAre("1:600", "1:500", "3:60", "2:700"));
  EXPECT_EQ(ReasonOf(0), Reason::kOfMuch);
  EXPECT_EQ(ReasonOf(2), Reason::kIdle);
}

TEST_F(WhoGivesFirst, OfIdleConnectionsThoseOfTheCallerThatHoldsMostGiveFirst) {
  Idle(1, 1, absl::Seconds(60));
  for (int i = 2; i < 6; ++i) Idle(2, i, absl::Seconds(i));
  Call(3, 6, 900);
  Idle(3, 7, absl::Seconds(1));
  EXPECT_THAT(Order(), ElementsAre("7:1", "5:5", "4:4", "3:3", "2:2", "1:60", "6:900"));
}

TEST_F(WhoGivesFirst, OfConnectionsThatAreIdleEquallyLongTheNewestGivesFirst) {
  for (int i = 1; i < 4; ++i) Idle(1, i, absl::ZeroDuration());
  EXPECT_THAT(Order(), ElementsAre("3:0", "2:0", "1:0"));
}

TEST_F(WhoGivesFirst, ACallerWithManySmallCallsIsAtFaultBeforeOthers) {
  Call(1, 1, 900);
  for (int i = 2; i < 12; ++i) Call(2, i, 100 + static_cast<size_t>(i));
  EXPECT_EQ(Order().front(), "11:111");
  EXPECT_EQ(ReasonOf(0), Reason::kOfLargest);
  EXPECT_EQ(ReasonOf(9), Reason::kOfLargest);
  EXPECT_EQ(ReasonOf(10), Reason::kAny);
}

TEST_F(WhoGivesFirst, WhereNobodyHoldsMoreThanHalfNobodyIsAtFault) {
  for (int i = 1; i < 4; ++i) Call(static_cast<uint64_t>(i), i, 100);
  Order();
  EXPECT_EQ(ReasonOf(0), Reason::kAny);
}

}  // namespace
}  // namespace levee
