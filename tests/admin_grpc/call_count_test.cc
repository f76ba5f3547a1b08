// SPDX-License-Identifier: Apache-2.0
#include "admin_grpc/call_count.h"

#include <string>

#include "admin_grpc/http2_bytes.h"
#include "gtest/gtest.h"

namespace levee {
namespace {

constexpr size_t kMuch = 1000;

class CallCountTest : public testing::Test {
 protected:
  CallCountTest() { Pass(kHttp2Preface); }

  size_t Pass(const std::string& bytes, size_t room = kMuch) {
    return count_.Pass(AsBytes(bytes), room);
  }
  void Answer(const std::string& bytes) { count_.Answered(AsBytes(bytes)); }

  CallCount count_;
};

TEST_F(CallCountTest, AnAnsweredCallIsGone) {
  Pass(Head(1) + Frame(h2::FrameType::kData, h2::kFlagEndStream, 1, 5));
  EXPECT_EQ(count_.calls(), 1);
  Answer(Head(1) + Frame(h2::FrameType::kData, 0, 1, 100));
  EXPECT_EQ(count_.calls(), 1);
  Answer(Frame(h2::FrameType::kHeaders, h2::kFlagEndStream, 1, 10));
  EXPECT_EQ(count_.calls(), 0);
}

TEST_F(CallCountTest, ACallThatEndsWithoutAnAnswerIsStillTheLibrarys) {
  Pass(Cancelled(1) + Head(3) + Head(5));
  Answer(Frame(h2::FrameType::kRstStream, 0, 3, 4));
  Answer(Frame(h2::FrameType::kHeaders, h2::kFlagEndStream, 5, 10));
  EXPECT_EQ(count_.calls(), 3);
  EXPECT_EQ(count_.ended(), 3);
  for (int i = 0; i < 4; ++i) count_.ForgetEnded();
  EXPECT_EQ(count_.calls(), 0);
}

TEST_F(CallCountTest, StopsBeforeACallThatIsOneTooMany) {
  std::string heads;
  for (uint32_t i = 0; i < CallCount::kMostOpen; ++i) heads += Head(2 * i + 1);
  const std::string ping = Frame(h2::FrameType::kPing, 0, 0, 8);
  const std::string further = Head(999);
  EXPECT_EQ(Pass(heads + ping + further), heads.size() + ping.size());
  EXPECT_FALSE(count_.wants_room()) << "others have nothing to do with it";
  Answer(Head(1) + Frame(h2::FrameType::kHeaders, h2::kFlagEndStream, 1, 10));
  EXPECT_EQ(Pass(further), further.size());
}

TEST_F(CallCountTest, StopsBeforeACallForWhichThereIsNoRoom) {
  EXPECT_EQ(Pass(Cancelled(1) + Cancelled(3) + Cancelled(5), 2), 2 * Cancelled(1).size());
  EXPECT_TRUE(count_.wants_room());
  EXPECT_EQ(Pass(Cancelled(5), 1), Cancelled(5).size());
  EXPECT_FALSE(count_.wants_room());
  EXPECT_EQ(count_.calls(), 3);
}

TEST_F(CallCountTest, StopsBeforeAPingWhereManyAreNotAnswered) {
  const std::string ping = Frame(h2::FrameType::kPing, 0, 0, 8);
  const std::string settings = Frame(h2::FrameType::kSettings, 0, 0, 6);
  std::string many;
  for (size_t i = 0; i < CallCount::kMostUnanswered / 2; ++i) many += ping + settings;
  const std::string answer = Frame(h2::FrameType::kPing, h2::kFlagAck, 0, 8);
  EXPECT_EQ(Pass(many + answer + ping), many.size() + answer.size());
  EXPECT_EQ(Pass(settings), 0);
  EXPECT_FALSE(count_.wants_room());
  Answer(ping);
  EXPECT_EQ(Pass(ping), 0) << "this was the library's own";
  Answer(answer);
  EXPECT_EQ(Pass(ping + ping), ping.size());
}

TEST_F(CallCountTest, TrailersBeginNoCall) {
  Pass(Head(1));
  EXPECT_EQ(Pass(Head(1), 0), Head(1).size());
  EXPECT_EQ(count_.calls(), 1);
}

TEST(CallCount, CountsTheSameWhereverTheBytesAreCut) {
  const std::string sent = kHttp2Preface + Head(1) + Frame(h2::FrameType::kData, 0, 1, 30) +
                           Cancelled(3) + Frame(h2::FrameType::kPing, 0, 0, 8);
  const std::string answer = Frame(h2::FrameType::kSettings, 0, 0, 0) +
                             Frame(h2::FrameType::kHeaders, 0, 1, 12) +
                             Frame(h2::FrameType::kHeaders, h2::kFlagEndStream, 1, 10);
  CallCount count;
  std::string waiting;
  for (const char byte : sent) {
    waiting += byte;
    waiting.erase(0, count.Pass(AsBytes(waiting), kMuch));
    EXPECT_LT(waiting.size(), h2::kFrameHeadBytes);
  }
  EXPECT_EQ(waiting, "");
  EXPECT_EQ(count.calls(), 2);
  for (const char byte : answer) count.Answered(AsBytes(std::string(1, byte)));
  EXPECT_EQ(count.calls(), 1);
}

TEST(CallCount, NothingOfAnotherProtocolPasses) {
  CallCount count;
  EXPECT_EQ(count.Pass(AsBytes("PRI * "), kMuch), 6);
  EXPECT_FALSE(count.is_other_protocol());
  EXPECT_EQ(count.Pass(AsBytes("HTTP/1.1\r\n"), kMuch), 0);
  EXPECT_TRUE(count.is_other_protocol());
}

}  // namespace
}  // namespace levee
