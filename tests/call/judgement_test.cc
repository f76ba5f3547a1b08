// SPDX-License-Identifier: Apache-2.0
// The judgement of a call on the endpoints that its attempts ran on.
#include <string>

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

}  // namespace
}  // namespace levee
