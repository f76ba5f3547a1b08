// SPDX-License-Identifier: Apache-2.0
// How faults and warnings are shown, and their codes.
#include "config/fault.h"

#include <set>
#include <string>

#include "gtest/gtest.h"

namespace levee {
namespace {

TEST(Fault, IsPlaceCodePathAndText) {
  EXPECT_EQ(FormatFault({"f.yaml", 3, 14, "drain.timeout", CheckCode::kDuration, "is wrong"}),
            "f.yaml:3:14: LV204 drain.timeout: is wrong");
}

TEST(Fault, WarningSaysThatItIsOne) {
  EXPECT_EQ(FormatFault({"f.yaml", 3, 14, "a.b", CheckCode::kHighRatio, "is high"}),
            "f.yaml:3:14: LV906 a.b: warning: is high");
}

TEST(Fault, WhatIsNotKnownIsLeftOut) {
  EXPECT_EQ(FormatFault({"f.yaml", 0, 0, "", CheckCode::kUnreadableFile, "cannot be read"}),
            "f.yaml: LV401 cannot be read");
  EXPECT_EQ(FormatFault({"", 0, 0, "", CheckCode::kMoreFaults, "and 3 more"}), "LV001 and 3 more");
  EXPECT_EQ(FormatFault({"f.json", 2, 1, "a", CheckCode::kNone, "is wrong"}),
            "f.json:2:1: a: is wrong");
}

TEST(CheckCodes, AreDistinctAscendingAndNamed) {
  int last = 0;
  std::set<std::string> titles;
  for (const CheckCodeInfo& info : AllCheckCodes()) {
    EXPECT_GT(static_cast<int>(info.code), last);
    last = static_cast<int>(info.code);
    EXPECT_TRUE(titles.insert(info.title).second) << info.title;
  }
}

TEST(CheckCodes, NineHundredsAreWarnings) {
  EXPECT_TRUE(IsWarning(CheckCode::kAttemptsExceedTimeout));
  EXPECT_TRUE(IsWarning(CheckCode::kMoreWarnings));
  EXPECT_EQ(CheckCodeText(CheckCode::kMoreFaults), "LV001");
  EXPECT_EQ(CheckCodeText(CheckCode::kNone), "");
}

}  // namespace
}  // namespace levee
