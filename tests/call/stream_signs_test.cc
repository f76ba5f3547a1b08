// SPDX-License-Identifier: Apache-2.0
#include "call/stream_signs.h"

#include <gtest/gtest.h>

#include <string>

namespace levee {
namespace {

Instant At(int64_t milliseconds) { return Instant() + absl::Milliseconds(milliseconds); }

Chunk Message() {
  static constexpr uint8_t kBytes[] = {0, 0, 0, 0, 4, 'p', 'i', 'n', 'g'};
  return Chunk::Copy(kBytes);
}

TEST(StreamSigns, ACallOfOneMessageEachWayIsUnaryAndItsMethodTooFromThenOn) {
  MethodKind method;
  StreamSigns call(method);
  EXPECT_FALSE(call.OnRequest(Message(), At(0)));
  EXPECT_FALSE(call.OnAnswer(Message(), At(10)));
  call.OnEnd();
  EXPECT_FALSE(call.is_stream());
  EXPECT_TRUE(method.IsUnary());
}

TEST(StreamSigns, TheSecondMessageOfAnAnswerMakesAStreamOfTheCallAndOfLaterOnes) {
  MethodKind method;
  StreamSigns call(method);
  EXPECT_FALSE(call.OnAnswer(Message(), At(10)));
  EXPECT_TRUE(call.OnAnswer(Message(), At(20)));
  EXPECT_FALSE(call.OnAnswer(Message(), At(30)));
  EXPECT_TRUE(call.is_stream());
  EXPECT_TRUE(call.is_stream_for_service());
  EXPECT_TRUE(StreamSigns(method).is_stream());
}

TEST(StreamSigns, AnAnswerWithoutTrailersForATenthOfASecondIsAStreams) {
  MethodKind method;
  StreamSigns call(method);
  EXPECT_FALSE(call.OnAnswer(Message(), At(10)));
  EXPECT_EQ(call.quiet_at(), At(110));
  EXPECT_FALSE(call.OnTime(At(109)));
  EXPECT_TRUE(call.OnTime(At(110)));
  EXPECT_TRUE(call.is_stream());
  EXPECT_TRUE(method.IsStream());
}

TEST(StreamSigns, ACallOfWhichNothingHasComeIsNoStreamByWaiting) {
  MethodKind method;
  StreamSigns call(method);
  call.OnRequest(Message(), At(0));
  EXPECT_TRUE(call.quiet_at().is_infinite());
  EXPECT_FALSE(call.OnTime(At(3'600'000)));
  EXPECT_FALSE(call.is_stream());
}

TEST(StreamSigns, TheSecondMessageOfARequestMakesAStreamWhichTeachesOnceItIsAnswered) {
  MethodKind method;
  StreamSigns call(method);
  EXPECT_FALSE(call.OnRequest(Message(), At(0)));
  EXPECT_TRUE(call.OnRequest(Message(), At(1)));
  EXPECT_FALSE(method.known());
  EXPECT_FALSE(call.OnAnswer(Message(), At(2)));
  call.OnEnd();
  EXPECT_TRUE(method.IsStream());
}

TEST(StreamSigns, AWrongGuessEndsWithTheNextUnaryAnswer) {
  MethodKind method;
  method.Learn(CallKind::kStream);
  StreamSigns call(method);
  EXPECT_TRUE(call.is_stream());
  call.OnRequest(Message(), At(0));
  call.OnAnswer(Message(), At(1));
  call.OnEnd();
  EXPECT_FALSE(StreamSigns(method).is_stream());
  // And yet its calls are not all unary.
  EXPECT_FALSE(method.IsUnary());
}

TEST(StreamSigns, ACallersSecondMessageProvesNothingOfAMethodThatAnswersAsUnary) {
  MethodKind method;
  method.Learn(CallKind::kUnary);
  StreamSigns call(method);
  call.OnRequest(Message(), At(0));
  call.OnRequest(Message(), At(0));
  // No bound of unary calls is to end an upload, but the guard keeps its slot.
  EXPECT_TRUE(call.is_stream());
  EXPECT_FALSE(call.is_stream_for_service());
  call.OnAnswer(Message(), At(1));
  call.OnEnd();
  EXPECT_TRUE(method.IsUnary());
  // What the service does proves it.
  StreamSigns other(method);
  other.OnAnswer(Message(), At(1));
  other.OnAnswer(Message(), At(2));
  EXPECT_TRUE(other.is_stream_for_service());
  EXPECT_TRUE(method.IsStream());
}

TEST(StreamSigns, ADescriptorIsNeverDoubted) {
  MethodKind unary(CallKind::kUnary);
  StreamSigns call(unary);
  call.OnRequest(Message(), At(0));
  call.OnRequest(Message(), At(0));
  call.OnAnswer(Message(), At(0));
  call.OnAnswer(Message(), At(0));
  EXPECT_TRUE(call.quiet_at().is_infinite());
  EXPECT_FALSE(call.is_stream());

  MethodKind stream(CallKind::kStream);
  StreamSigns single(stream);
  single.OnRequest(Message(), At(0));
  single.OnAnswer(Message(), At(0));
  single.OnEnd();
  EXPECT_TRUE(single.is_stream());
  EXPECT_TRUE(stream.IsStream());
}

TEST(StreamSigns, AnAnswerWithoutAMessageTeachesNothing) {
  MethodKind method;
  StreamSigns call(method);
  call.OnRequest(Message(), At(0));
  call.OnEnd();
  EXPECT_FALSE(method.known());
}

}  // namespace
}  // namespace levee
