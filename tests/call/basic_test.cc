// SPDX-License-Identifier: Apache-2.0
// Retrying at its simplest: how often, with which header, where, and what the caller gets to see.
#include <gmock/gmock.h>

#include <vector>

#include "call/call_fixture.h"

namespace levee {
namespace {

class CallBasic : public CallTest {};

TEST_F(CallBasic, A1_UnavailableThenOkShowsTheCallerOnlyOk) {
  Upstream({TrailersOnly(StatusCode::kUnavailable, {{"x-attempt", "1"}}), Ok("pong")});
  SimHost& call = RunUnary();
  EXPECT_EQ(call.attempts(), 2);
  EXPECT_EQ(call.caller().code, StatusCode::kOk);
  EXPECT_EQ(call.caller().body, "pong");
  EXPECT_EQ(call.caller().trailers.size(), 1u);
  EXPECT_EQ(call.caller().trailers.Get("grpc-status"), "0");
}

TEST_F(CallBasic, A2_OnlyRetriesCarryTheAttemptHeader) {
  Upstream({TrailersOnly(StatusCode::kUnavailable)});
  SimHost& call = RunUnary();
  ASSERT_EQ(call.attempts(), 4);
  EXPECT_EQ(call.attempt(1).previous_attempts, 0);
  EXPECT_EQ(call.attempt(2).previous_attempts, 1);
  EXPECT_EQ(call.attempt(3).previous_attempts, 2);
  EXPECT_EQ(call.attempt(4).previous_attempts, 3);
}

TEST_F(CallBasic, A2_TheAttemptHeaderAddsToWhatTheApplicationSent) {
  Upstream({TrailersOnly(StatusCode::kUnavailable), Ok()});
  SimHost& call = RunUnary({.previous_attempts = 2});
  ASSERT_EQ(call.attempts(), 2);
  EXPECT_EQ(call.attempt(1).previous_attempts, 2);
  EXPECT_EQ(call.attempt(2).previous_attempts, 3);
}

TEST_F(CallBasic, A2_AnAbsurdAttemptHeaderIsBounded) {
  Upstream({TrailersOnly(StatusCode::kUnavailable), Ok()});
  SimHost& call = RunUnary({.previous_attempts = 2'147'483'647});
  ASSERT_EQ(call.attempts(), 2);
  EXPECT_EQ(call.attempt(2).previous_attempts, 1'000'001);
}

TEST_F(CallBasic, A3_AlwaysFailingEndsAfterFourAttemptsWithTheLastStatusAndMetadata) {
  Upstream({Answer().Trailers(Ms(1), StatusCode::kUnavailable, "first", {{"x-attempt", "1"}}),
            Answer().Trailers(Ms(1), StatusCode::kUnavailable, "second"),
            Answer().Trailers(Ms(1), StatusCode::kUnavailable, "third"),
            Answer().Trailers(Ms(1), StatusCode::kUnavailable, "fourth 100%", {{"x-last", "yes"}}),
            Ok()});
  SimHost& call = RunUnary();
  EXPECT_EQ(call.attempts(), 4);
  EXPECT_EQ(call.caller().code, StatusCode::kUnavailable);
  EXPECT_EQ(call.caller().head_at, std::nullopt);
  EXPECT_EQ(call.caller().trailers.Get("grpc-status"), "14");
  EXPECT_EQ(call.caller().trailers.Get("grpc-message"), "fourth 100%25");
  EXPECT_EQ(call.caller().trailers.Get("x-last"), "yes");
  EXPECT_EQ(call.caller().trailers.size(), 3u);
  EXPECT_EQ(call.record().refused, RefusalReason::kMaxAttempts);
}

TEST_F(CallBasic, A3_RetriesWaitForTheBackoff) {
  retry_.budget.wait = absl::ZeroDuration();
  Upstream({TrailersOnly(StatusCode::kUnavailable)});
  SimHost& call = RunUnary();
  ASSERT_EQ(call.attempts(), 4);
  EXPECT_EQ(call.attempt(1).start, Ms(0));
  EXPECT_EQ(call.attempt(2).start, Ms(1 + 100));
  EXPECT_EQ(call.attempt(3).start, Ms(102 + 200));
  EXPECT_EQ(call.attempt(4).start, Ms(303 + 400));
  EXPECT_EQ(call.caller().finished_at, Ms(704));
}

TEST_F(CallBasic, A4_AnUnlistedCodePassesVerbatimAfterOneAttempt) {
  Upstream({Answer().Trailers(Ms(1), StatusCode::kInvalidArgument, "no such item",
                              {{"grpc-status-details-bin", "CAM"}, {"x-more", "1"}}),
            Ok()});
  SimHost& call = RunUnary();
  EXPECT_EQ(call.attempts(), 1);
  EXPECT_EQ(call.caller().code, StatusCode::kInvalidArgument);
  EXPECT_EQ(call.caller().trailers.Get("grpc-message"), "no such item");
  EXPECT_EQ(call.caller().trailers.Get("grpc-status-details-bin"), "CAM");
  EXPECT_EQ(call.caller().trailers.Get("x-more"), "1");
  EXPECT_EQ(call.caller().trailers.size(), 4u);
  EXPECT_EQ(call.record().refused, std::nullopt);
}

TEST_F(CallBasic, A7_ARetryAvoidsTheEndpointThatFailed) {
  sidecar_.endpoints().NeverEject();
  sidecar_.AddEndpoint(InTurn({TrailersOnly(StatusCode::kUnavailable)}));
  sidecar_.AddEndpoint(InTurn({Ok()}));
  int failed_first = 0;
  for (int i = 0; i < 50; ++i) {
    SimHost& call = RunUnary();
    ASSERT_EQ(call.caller().code, StatusCode::kOk);
    if (call.attempts() == 1) continue;
    ++failed_first;
    ASSERT_EQ(call.attempts(), 2);
    EXPECT_THAT(call.attempt(2).avoid, testing::ElementsAre(0));
    EXPECT_EQ(call.attempt(2).endpoint, 1);
  }
  EXPECT_GT(failed_first, 10);
}

TEST_F(CallBasic, A7_EveryEndpointThatFailedIsAvoided) {
  const Service failing = InTurn({TrailersOnly(StatusCode::kUnavailable)});
  for (int i = 0; i < 3; ++i) sidecar_.AddEndpoint(failing);
  SimHost& call = RunUnary();
  ASSERT_EQ(call.attempts(), 4);
  EXPECT_EQ(call.attempt(3).avoid.size(), 2u);
  EXPECT_EQ(call.attempt(4).avoid.size(), 3u);
  EXPECT_NE(call.attempt(1).endpoint, call.attempt(2).endpoint);
  EXPECT_NE(call.attempt(1).endpoint, call.attempt(3).endpoint);
  EXPECT_NE(call.attempt(2).endpoint, call.attempt(3).endpoint);
}

TEST_F(CallBasic, A7_AnOnlyEndpointIsTriedAgain) {
  Upstream({TrailersOnly(StatusCode::kUnavailable), Ok()});
  SimHost& call = RunUnary();
  ASSERT_EQ(call.attempts(), 2);
  EXPECT_EQ(call.attempt(2).endpoint, 0);
}

}  // namespace
}  // namespace levee
