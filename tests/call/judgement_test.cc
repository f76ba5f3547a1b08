// SPDX-License-Identifier: Apache-2.0
// The judgement of a call on the endpoints that its attempts ran on.
#include <string>
#include <vector>

#include "call/call_fixture.h"

namespace levee {
namespace {

class CallJudgement : public CallTest {
 protected:
  std::optional<bool> Of(const Answer& answer) {
    retry_.max_attempts = 1;
    Upstream({answer});
    return RunUnary().attempt(1).judged;
  }

  static Answer Marked(const std::string& mark) {
    return TrailersOnly(StatusCode::kUnavailable, {{"levee-overload", mark}});
  }
};

TEST_F(CallJudgement, AStatusThatThePolicyDoesNotListSpeaksWell) {
  EXPECT_EQ(Of(TrailersOnly(StatusCode::kNotFound)), true);
}

TEST_F(CallJudgement, AStatusThatThePolicyListsSpeaksIll) {
  EXPECT_EQ(Of(TrailersOnly(StatusCode::kUnavailable)), false);
}

TEST_F(CallJudgement, AnOverloadedEndpointSpeaksIll) { EXPECT_EQ(Of(Marked("endpoint")), false); }

TEST_F(CallJudgement, AnOverloadedServiceFurtherOnSaysNothing) {
  EXPECT_EQ(Of(Marked("service")), std::nullopt);
}

// Answers after 5 or 20 ms, but not at all to the last call.
class ShortDeadline : public CallJudgement {
 protected:
  std::optional<bool> JudgedWith(absl::Duration timeout) {
    std::vector<Answer> answers;
    for (int i = 0; i < 20; ++i) {
      answers.push_back(Answer().Trailers(Ms(i % 2 == 0 ? 5 : 20), StatusCode::kOk));
    }
    answers.push_back(Silence());
    Upstream(answers);
    for (int i = 0; i < 20; ++i) RunUnary();
    return RunUnary({.timeout = timeout}).attempt(1).judged;
  }
};

TEST_F(ShortDeadline, H9_ADeadlineBelowWhatAnswersTakeSaysNothing) {
  EXPECT_EQ(JudgedWith(Ms(10)), std::nullopt);
}

TEST_F(ShortDeadline, H9_ADeadlineThatLeavesAnswersTheirTimeSpeaksIll) {
  EXPECT_EQ(JudgedWith(Ms(21)), false);
}

}  // namespace
}  // namespace levee
