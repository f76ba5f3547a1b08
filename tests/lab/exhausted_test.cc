// SPDX-License-Identifier: Apache-2.0
// The table of what callers get when retrying ends without success.
#include "lab/exhausted.h"

#include <string>

#include "gmock/gmock.h"

namespace levee {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

std::string AnswerTo(const std::string& why, ExhaustedMode mode,
                     const OverloadPolicy& overload = {}) {
  for (const ExhaustedRow& row : TabulateExhausted(mode, overload)) {
    for (const std::string& each : row.why) {
      if (each == why) return row.answer;
    }
  }
  return "no row";
}

TEST(Exhausted, AutoMarksWhatTheBudgetRefusedAndWhatHasNoAttemptsLeft) {
  EXPECT_EQ(AnswerTo("budget", ExhaustedMode::kAuto),
            "RESOURCE_EXHAUSTED with the overload signal, scope service");
  EXPECT_THAT(AnswerTo("max_attempts", ExhaustedMode::kAuto),
              HasSubstr("scope endpoint, or service if two endpoints failed"));
  EXPECT_EQ(AnswerTo("deadline", ExhaustedMode::kAuto), "the failure unchanged");
}

TEST(Exhausted, AFailureToConnectKeepsItsCode) {
  EXPECT_EQ(AnswerTo("budget (no connection)", ExhaustedMode::kAuto),
            "the failure's code and message with the overload signal, scope service");
}

TEST(Exhausted, AMarkOfOneEndpointIsPassedOnAsThat) {
  EXPECT_EQ(AnswerTo("overload_mark (endpoint)", ExhaustedMode::kAuto),
            "the failure's code and message with the overload signal, scope endpoint");
}

TEST(Exhausted, TheAgreedCodeIsTheConfiguredOne) {
  EXPECT_THAT(AnswerTo("budget", ExhaustedMode::kReplace, {.status = StatusCode::kUnavailable}),
              HasSubstr("UNAVAILABLE with the overload signal"));
}

TEST(Exhausted, KeepLeavesEveryFailureAsItWas) {
  EXPECT_THAT(TabulateExhausted(ExhaustedMode::kKeep, {}), SizeIs(1));
  EXPECT_EQ(AnswerTo("budget", ExhaustedMode::kKeep), "the failure unchanged");
}

}  // namespace
}  // namespace levee
