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

// Answers after 5 or 20 ms, but to the last call as `last_` says.
class ShortDeadline : public CallJudgement {
 protected:
  std::optional<bool> JudgedWith(absl::Duration timeout) {
    std::vector<Answer> answers;
    for (int i = 0; i < 20; ++i) {
      answers.push_back(Answer().Trailers(Ms(i % 2 == 0 ? 5 : 20), StatusCode::kOk));
    }
    answers.push_back(last_);
    Upstream(answers);
    for (int i = 0; i < 20; ++i) RunUnary();
    return RunUnary({.timeout = timeout}).attempt(1).judged;
  }

  Answer last_ = Silence();
};

TEST_F(ShortDeadline, H9_ADeadlineBelowWhatAnswersTakeSaysNothing) {
  EXPECT_EQ(JudgedWith(Ms(10)), std::nullopt);
}

TEST_F(ShortDeadline, H9_ADeadlineThatLeavesAnswersTheirTimeSpeaksIll) {
  EXPECT_EQ(JudgedWith(Ms(21)), false);
}

TEST_F(ShortDeadline, ADeadlineSaysNothingOfAMethodThatHasNotAnsweredYet) {
  Upstream({Silence()});
  EXPECT_EQ(RunUnary({.timeout = Ms(500)}).attempt(1).judged, std::nullopt);
}

// The upstream is the first to say that the deadline has passed.
class DeadlineOfTheUpstream : public ShortDeadline {
 protected:
  std::optional<bool> JudgedAt(absl::Duration timeout) {
    retry_.codes.Add(StatusCode::kDeadlineExceeded);
    last_ = Answer().Trailers(timeout - absl::Microseconds(100), StatusCode::kDeadlineExceeded);
    return JudgedWith(timeout);
  }
};

TEST_F(DeadlineOfTheUpstream, SaysNothingBelowWhatAnswersTake) {
  EXPECT_EQ(JudgedAt(Ms(10)), std::nullopt);
}

TEST_F(DeadlineOfTheUpstream, SpeaksIllWhereAnswersHadTheirTime) {
  EXPECT_EQ(JudgedAt(Ms(21)), false);
}

// Four endpoints that answer one method after 1 ms and another one after 200 ms.
class HostileDeadlines : public CallTest {
 protected:
  enum Method : int { kFast, kSlow };

  HostileDeadlines() {
    for (int i = 0; i < 4; ++i) {
      sidecar_.AddEndpoint([](SimHost& host, int) {
        return Answer().Trailers(host.origin().method == kSlow ? Ms(200) : Ms(1), StatusCode::kOk);
      });
    }
  }

  void CallAt(absl::Duration at, Method method, absl::Duration timeout) {
    clock_.After(at, [this, method, timeout] {
      sidecar_.NewCall({.timeout = timeout}, nullptr, {.method = method}).Send(kMessage, true);
    });
  }

  // Honest calls of `first`, and then deadlines of 1 ms at the slow method, 200 a second, beside
  // 100 honest calls of the fast one.
  void Attack(Method first) {
    for (int i = 0; i < 12; ++i) CallAt(Ms(10 * i), first, absl::Seconds(1));
    for (int i = 0; i < 3000; ++i) {
      CallAt(Ms(400 + i / 4 * 20) + i % 4 * absl::Microseconds(30), kSlow, Ms(1));
    }
    for (int i = 0; i < 1500; ++i) CallAt(Ms(400 + 10 * i), kFast, absl::Seconds(1));
    clock_.Run();
    EXPECT_GT(sidecar_.tally().attempts, 4000);
    EXPECT_TRUE(sidecar_.endpoints().TakeEjections().empty());
  }
};

TEST_F(HostileDeadlines, EjectNothingWhereTheMethodHasNeverAnswered) { Attack(kFast); }

TEST_F(HostileDeadlines, EjectNothingWhereTheMethodIsKnownToBeSlow) { Attack(kSlow); }

}  // namespace
}  // namespace levee
