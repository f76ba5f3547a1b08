// SPDX-License-Identifier: Apache-2.0
// Facts that no gRPC library shows: the frames and fields on both sides of the sidecar.
#include <chrono>
#include <string>

#include "gmock/gmock.h"
#include "integration/scripted.h"
#include "wire/timeout.h"

namespace levee {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

TEST(Wire, TheRequestHeadIsForwardedAsItCame) {
  Wire wire(ForEach(TellHead));
  const RawAnswer answer = wire.client.AnswerTo(
      wire.client.Call({{"x-b", "1"}, {"x-a", "2"}, {"x-b", "0"}, {"x-bin", "AP+AIA"}}));
  EXPECT_THAT(
      Values(answer.trailers, "told"),
      StartsWith(":method=POST|:scheme=http|:path=/test.Echo/Unary|:authority=shop.test:50051|"
                 "te=trailers|content-type=application/grpc|user-agent=raw/1|x-b=1|x-a=2|x-b=0|"
                 "x-bin=AP+AIA|via=2 levee-"));  // A24: no timeout
}

TEST(Wire, AnyGrpcContentTypeIsForwarded) {
  Wire wire(ForEach(TellHead));
  for (const std::string type : {"application/grpc+json", "application/grpc;charset=utf-8"}) {
    HeaderList head = RawClient::CallHead();
    head[5].second = type;
    const int32_t stream = wire.client.Open(head, true);
    const RawAnswer answer = wire.client.AnswerTo(stream);
    EXPECT_THAT(Values(answer.trailers, "told"), HasSubstr("content-type=" + type + "|"));
  }
}

TEST(Wire, A22_AnAttemptCarriesTheRemainingTime) {
  Wire wire(ForEach([](UpstreamPeer& peer, const RawRequest& request) {
    peer.AnswerTrailersOnly(request.stream, 0, {{"told", Values(request.head, "grpc-timeout")}});
  }));
  const auto start = std::chrono::steady_clock::now();
  const RawAnswer answer = wire.client.AnswerTo(wire.client.Call({{"grpc-timeout", "90S"}}));
  const absl::Duration took = absl::FromChrono(std::chrono::steady_clock::now() - start);
  const auto timeout = ParseGrpcTimeout(Values(answer.head, "told"));
  ASSERT_TRUE(timeout.has_value()) << Values(answer.head, "told");
  EXPECT_LE(*timeout, absl::Seconds(90));
  EXPECT_GE(*timeout, absl::Seconds(90) - took);
}

TEST(Wire, ATrailersOnlyAnswerStaysOne) {
  Wire wire(ForEach([](UpstreamPeer& peer, const RawRequest& request) {
    peer.AnswerTrailersOnly(request.stream, 5,
                            {{"grpc-message", "caf%C3%A9 %zz 100%"}, {"x-trailer", "z"}});
  }));
  const RawAnswer answer = wire.client.AnswerTo(wire.client.Call());
  EXPECT_TRUE(answer.head_ended);
  EXPECT_EQ(answer.grpc_status(), "5");
  EXPECT_EQ(answer.grpc_message(), "caf%C3%A9 %zz 100%");
  EXPECT_EQ(Values(answer.head, "x-trailer"), "z");
  EXPECT_FALSE(answer.reset.has_value());
}

TEST(Wire, CompressedMessagesInOddPiecesPassUntouched) {
  Wire wire(ForEach([](UpstreamPeer& peer, const RawRequest& request) {
    peer.WriteHeaders(request.stream,
                      {{":status", "200"},
                       {"content-type", "application/grpc"},
                       {"grpc-encoding", Values(request.head, "grpc-encoding")}},
                      false);
    for (const char byte : request.body) peer.WriteData(request.stream, {&byte, 1}, false);
    peer.AnswerTrailers(request.stream, 0);
  }));
  const std::string body =
      GrpcMessage("not really gzip", /*compressed=*/true) + GrpcMessage("") + GrpcMessage("plain");
  const int32_t stream = wire.client.Open(RawClient::CallHead({{"grpc-encoding", "gzip"}}), false);
  for (size_t at = 0; at < body.size(); at += 3) {
    wire.client.WriteData(stream, std::string_view(body).substr(at, 3), false);
  }
  wire.client.WriteData(stream, "", true);
  const RawAnswer answer = wire.client.AnswerTo(stream);
  EXPECT_EQ(answer.body, body);
  EXPECT_EQ(Values(answer.head, "grpc-encoding"), "gzip");
  EXPECT_EQ(answer.grpc_status(), "0");
}

TEST(Wire, EarlyTrailersEndTheOtherHalfWithNoErrorOnBothSides) {
  std::atomic<int> reset_code = -1;
  Wire wire([&](UpstreamPeer& peer) {
    peer.Handshake();
    const auto request = peer.NextHead();
    if (!request.has_value()) return;
    peer.AnswerHead(request->stream);
    peer.WriteData(request->stream, GrpcMessage("early"), false);
    peer.AnswerTrailers(request->stream, 0);
    while (const auto frame = peer.ReadMeaningful()) {
      if (frame->type == FrameType::kReset)
        reset_code = static_cast<int>(ReadNumber(frame->payload));
      if (frame->type == FrameType::kHeaders) peer.Answer(frame->stream);
    }
  });
  const int32_t stream = wire.client.Open(RawClient::CallHead(), false);
  const RawAnswer answer = wire.client.AnswerTo(stream);
  EXPECT_EQ(answer.body, GrpcMessage("early"));
  EXPECT_EQ(answer.grpc_status(), "0");
  const auto after = wire.client.ReadMeaningful();
  ASSERT_TRUE(after.has_value());
  EXPECT_EQ(after->type, FrameType::kReset);
  EXPECT_EQ(ReadNumber(after->payload), static_cast<uint32_t>(H2Error::kNone));
  // The next call is behind the reset on the upstream connection.
  EXPECT_EQ(wire.client.AnswerTo(wire.client.Open(RawClient::CallHead(), true)).grpc_status(), "0");
  EXPECT_EQ(reset_code, static_cast<int>(H2Error::kNone));
}

TEST(Wire, ACallerThatSendsItsHalfCloseLaterHasItForwarded) {
  Wire wire(ForEach([](UpstreamPeer& peer, const RawRequest& request) {
    peer.AnswerTrailersOnly(request.stream, 0, {{"told", std::to_string(request.body.size())}});
  }));
  const int32_t stream = wire.client.Open(RawClient::CallHead(), false);
  wire.client.WriteData(stream, GrpcMessage("12345"), false);
  wire.client.WriteData(stream, "", true);
  EXPECT_EQ(Values(wire.client.AnswerTo(stream).head, "told"), "10");
}

TEST(Wire, TheCallersPingIsAnswered) {
  Wire wire(ForEach(TellHead));
  wire.client.Write(FrameType::kPing, 0, 0, "12345678");
  for (;;) {
    const auto frame = wire.client.Read();
    ASSERT_TRUE(frame.has_value());
    if (frame->type != FrameType::kPing) continue;
    EXPECT_EQ(frame->payload, "12345678");
    EXPECT_EQ(frame->flags, kAck);
    break;
  }
}

}  // namespace
}  // namespace levee
