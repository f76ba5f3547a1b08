// SPDX-License-Identifier: Apache-2.0
#include "call/final_answer.h"

#include <gtest/gtest.h>

#include <string>

namespace levee {
namespace {

std::string Text(const Metadata& fields) {
  std::string text;
  for (size_t i = 0; i < fields.size(); ++i) {
    if (i > 0) text += ' ';
    text.append(fields[i].name).append("=").append(fields[i].value);
  }
  return text;
}

TEST(FinalAnswer, OfTheUpstreamIsForwardedAsItIs) {
  Metadata trailers;
  trailers.Add("x-trace", "1");
  trailers.Add("grpc-status", "5");
  Metadata to;
  WriteFinalAnswer({.code = StatusCode::kNotFound, .forward_trailers = true}, trailers, "", to);
  EXPECT_EQ(Text(to), "x-trace=1 grpc-status=5");
}

TEST(FinalAnswer, OfLeveeIsAWholeHeadUntilOneHasBeenSent) {
  const FinalStatus status = {.code = StatusCode::kUnavailable, .message = "gone: 100%"};
  Metadata none;
  Metadata head;
  WriteFinalAnswer(status, none, "application/grpc+json", head);
  EXPECT_EQ(
      Text(head),
      ":status=200 content-type=application/grpc+json grpc-status=14 grpc-message=gone: 100%25");
  Metadata trailers;
  WriteFinalAnswer(status, none, "", trailers);
  EXPECT_EQ(Text(trailers), "grpc-status=14 grpc-message=gone: 100%25");
}

TEST(FinalAnswer, OfARateLimitSaysWhenToComeBackRoundedUp) {
  Metadata none;
  Metadata to;
  WriteFinalAnswer({.code = StatusCode::kResourceExhausted, .pushback = absl::Microseconds(1500)},
                   none, "", to);
  EXPECT_EQ(Text(to), "grpc-status=8 grpc-retry-pushback-ms=2");
}

TEST(FinalAnswer, ThatIsMarkedKeepsTheFieldsOfTheAttemptItIsWrittenOver) {
  MarkedStatus marked;
  marked.code = StatusCode::kResourceExhausted;
  marked.original_code = StatusCode::kUnavailable;
  marked.mark.upstream = "cart";
  Metadata attempt;
  attempt.Add(":status", "200");
  attempt.Add("content-type", "application/grpc+proto");
  attempt.Add("x-trace", "1");
  attempt.Add("grpc-status", "14");
  Metadata to;
  WriteFinalAnswer({.code = marked.code, .marked = &marked}, attempt, "", to);
  EXPECT_EQ(to.Get("x-trace"), "1");
  EXPECT_EQ(to.Get("grpc-status"), "8");
  EXPECT_TRUE(to.Has("levee-overload"));
  EXPECT_FALSE(to.Has(":status"));
}

TEST(FinalAnswer, H21_ThatIsMarkedKeepsTheContentTypeOfTheHeadItIsWrittenOver) {
  MarkedStatus marked;
  marked.code = StatusCode::kResourceExhausted;
  marked.original_code = StatusCode::kUnavailable;
  for (const std::string own : {"application/grpc+proto", "text/html", ""}) {
    Metadata attempt;
    if (!own.empty()) attempt.Add("content-type", own);
    attempt.Add("grpc-status", "14");
    Metadata to;
    WriteFinalAnswer({.code = marked.code, .marked = &marked}, attempt, "application/grpc+json",
                     to);
    EXPECT_EQ(to.Get("content-type"),
              own == "application/grpc+proto" ? own : "application/grpc+json");
    EXPECT_EQ(to.Count("content-type"), 1u);
  }
}

}  // namespace
}  // namespace levee
