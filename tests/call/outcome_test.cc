// SPDX-License-Identifier: Apache-2.0
#include "call/outcome.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

namespace levee {
namespace {

using testing::HasSubstr;
using testing::Not;
using Kind = AttemptOutcome::Kind;
using Fields = std::initializer_list<std::pair<std::string_view, std::string_view>>;

absl::Time Noon() { return absl::FromUnixSeconds(1'800'000'000); }

void Fill(Metadata& list, Fields fields) {
  for (const auto& [name, value] : fields) list.Add(name, value);
}

AnswerHead Read(Metadata& head, Fields fields, bool end) {
  Fill(head, fields);
  return ReadAnswerHead(head, end, /*request=*/Metadata());
}

AttemptOutcome OfTrailers(Fields fields) {
  Metadata trailers;
  Fill(trailers, fields);
  return OutcomeOfTrailers(trailers, HonoredSignals(), Noon);
}

TEST(AnswerHead, OfGrpcBeginsAnAnswerAndLosesItsLength) {
  Metadata head;
  EXPECT_EQ(
      Read(head,
           {{":status", "200"}, {"content-type", "application/grpc"}, {"content-length", "9"}},
           false),
      AnswerHead::kBegin);
  EXPECT_FALSE(head.Has("content-length"));
}

TEST(AnswerHead, ThatEndsTheStreamIsTheWholeAnswer) {
  Metadata head;
  EXPECT_EQ(Read(head, {{":status", "200"}, {"content-type", "application/grpc"}}, true),
            AnswerHead::kEnd);
}

TEST(AnswerHead, WithAGrpcStatusRulesOverAForeignStatus) {
  Metadata head;
  EXPECT_EQ(
      Read(head, {{":status", "503"}, {"content-type", "text/plain"}, {"grpc-status", "5"}}, true),
      AnswerHead::kEnd);
  EXPECT_EQ(head.Get(":status"), "200");
  EXPECT_EQ(head.Get("content-type"), "application/grpc");
}

TEST(AnswerHead, OfAnotherStatusOrContentTypeIsNotGrpc) {
  Metadata status;
  EXPECT_EQ(Read(status, {{":status", "503"}, {"content-type", "application/grpc"}}, false),
            AnswerHead::kNotGrpc);
  Metadata type;
  EXPECT_EQ(Read(type, {{":status", "200"}, {"content-type", "text/html"}}, false),
            AnswerHead::kNotGrpc);
}

TEST(OutcomeOfTrailers, IsTheGrpcStatusThatTheyCarry) {
  const AttemptOutcome ok = OfTrailers({{"grpc-status", "0"}});
  EXPECT_EQ(ok.kind, Kind::kStatus);
  EXPECT_EQ(ok.code, StatusCode::kOk);
  const AttemptOutcome failed = OfTrailers({{"grpc-status", "14"}, {"grpc-message", "a%20b"}});
  EXPECT_EQ(failed.code, StatusCode::kUnavailable);
  EXPECT_EQ(failed.message, "a b");
}

TEST(OutcomeOfTrailers, WithoutAStatusIsUnknownAndTheCallerIsTold) {
  Metadata trailers;
  EXPECT_EQ(OutcomeOfTrailers(trailers, HonoredSignals(), Noon).code, StatusCode::kUnknown);
  EXPECT_EQ(trailers.Get("grpc-status"), "2");
}

TEST(OutcomeOfTrailers, HasThePushbackAdviceAndMarkOfAFailure) {
  const AttemptOutcome outcome = OfTrailers({{"grpc-status", "14"},
                                             {"grpc-retry-pushback-ms", "40"},
                                             {"retry-after", "3"},
                                             {"levee-overload", "endpoint;reason=queue"}});
  EXPECT_EQ(outcome.pushback.delay, absl::Milliseconds(40));
  EXPECT_EQ(outcome.advice, absl::Seconds(3));
  ASSERT_TRUE(outcome.mark.has_value());
  EXPECT_EQ(outcome.mark->scope, OverloadScope::kEndpoint);
}

TEST(OutcomeOfHttp, MapsTheStatusAndKeepsItForTheRules) {
  Metadata head;
  Fill(head, {{":status", "429"}, {"content-type", "text/html"}, {"retry-after", "7"}});
  const AttemptOutcome outcome = OutcomeOfHttp(head, Noon);
  EXPECT_EQ(outcome.kind, Kind::kHttp);
  EXPECT_EQ(outcome.http_status, 429);
  EXPECT_EQ(outcome.code, StatusCode::kUnavailable);
  EXPECT_EQ(outcome.advice, absl::Seconds(7));
}

TEST(OutcomeOfClose, TellsWhatSurelyWasNotProcessedFromWhatMayHaveBeen) {
  using Cause = StreamEnd::Cause;
  const struct {
    StreamEnd end;
    Kind kind;
    StatusCode code;
  } cases[] = {
      {{.cause = Cause::kLost, .left = false}, Kind::kUnsent, StatusCode::kUnavailable},
      {{.cause = Cause::kReset, .error_code = kResetRefusedStream},
       Kind::kRefused,
       StatusCode::kUnavailable},
      {{.cause = Cause::kExcluded}, Kind::kRefused, StatusCode::kUnavailable},
      {{.cause = Cause::kLost}, Kind::kReset, StatusCode::kUnavailable},
      {{.cause = Cause::kStalled}, Kind::kReset, StatusCode::kUnavailable},
      {{.cause = Cause::kReset, .error_code = kResetCancel}, Kind::kReset, StatusCode::kCancelled},
      {{.cause = Cause::kReset, .error_code = kResetEnhanceYourCalm},
       Kind::kReset,
       StatusCode::kResourceExhausted},
  };
  for (const auto& [end, kind, code] : cases) {
    const AttemptOutcome outcome = OutcomeOfClose(end);
    EXPECT_EQ(outcome.kind, kind) << outcome.message;
    EXPECT_EQ(outcome.code, code) << outcome.message;
  }
}

// grpc-go resets the stream of an answer that exceeds what it is offered, and says no more.
TEST(OutcomeOfClose, NamesTheLimitThatAnInternalResetMayComeFrom) {
  const auto message = [](uint32_t error_code) {
    return OutcomeOfClose({.cause = StreamEnd::Cause::kReset, .error_code = error_code}).message;
  };
  EXPECT_THAT(message(kResetInternalError), HasSubstr("limits.metadata_bytes"));
  EXPECT_THAT(message(kResetCancel), Not(HasSubstr("limits")));
}

TEST(OutcomeOfClose, WhatAGoawaySaidIsInTheMessageOfWhatItExcludedOrLeftUnanswered) {
  using Cause = StreamEnd::Cause;
  EXPECT_EQ(OutcomeOfClose({.cause = Cause::kExcluded}).message, "the upstream is going away");
  EXPECT_EQ(OutcomeOfClose({.cause = Cause::kExcluded, .goaway = "deploying"}).message,
            "the upstream is going away: deploying");
  EXPECT_EQ(OutcomeOfClose({.cause = Cause::kLost, .goaway = "deploying"}).message,
            "the connection to the upstream was lost; the upstream is going away: deploying");
  EXPECT_EQ(OutcomeOfClose({.cause = Cause::kExcluded, .goaway = std::string(200, 'g')}).message,
            "the upstream is going away: " + std::string(100, 'g'));
}

}  // namespace
}  // namespace levee
