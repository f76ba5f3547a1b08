// SPDX-License-Identifier: Apache-2.0
// RST_STREAM and lost connections: what the other side is told of them.
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "integration/scripted.h"

namespace levee {
namespace {

using grpc::StatusCode;

// RFC 9113, section 7, and two codes that nobody has defined.
constexpr uint32_t kCodes[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 0xffffffff};

// gRPC over HTTP/2, "Errors".
StatusCode StatusOf(uint32_t code) {
  switch (static_cast<H2Error>(code)) {
    case H2Error::kRefusedStream:
      return StatusCode::UNAVAILABLE;
    case H2Error::kCancel:
      return StatusCode::CANCELLED;
    case H2Error::kEnhanceYourCalm:
      return StatusCode::RESOURCE_EXHAUSTED;
    case H2Error::kInadequateSecurity:
      return StatusCode::PERMISSION_DENIED;
    case H2Error::kStreamClosed:
    case H2Error::kHttp11Required:
      return StatusCode::UNKNOWN;
    default:
      return code > 13 ? StatusCode::UNKNOWN : StatusCode::INTERNAL;
  }
}

// Resets each call with the number that stands in its x-code.
void ResetAsAsked(UpstreamPeer& peer, const RawRequest& request) {
  const auto code = static_cast<uint32_t>(std::stoul(Values(request.head, "x-code")));
  peer.WriteReset(request.stream, static_cast<H2Error>(code));
}

Setup Asking(uint32_t code) {
  return [code](grpc::ClientContext& c) { c.AddMetadata("x-code", std::to_string(code)); };
}

TEST(WireReset, EveryCodeHasItsStatusForAGrpcCaller) {
  Hostile run(ForEach(ResetAsAsked), kNoRetry);
  for (const uint32_t code : kCodes) {
    const Reply reply = CallUnary(run.channel, "x", Asking(code));
    EXPECT_EQ(reply.status.error_code(), StatusOf(code)) << code;
  }
}

TEST(WireReset, EveryCodeAfterTheHeadHasItsStatusForAGrpcCaller) {
  Hostile run(ForEach([](UpstreamPeer& peer, const RawRequest& request) {
                peer.AnswerHead(request.stream);
                ResetAsAsked(peer, request);
              }),
              kNoRetry);
  for (const uint32_t code : kCodes) {
    const Reply reply = CallUnary(run.channel, "x", Asking(code));
    EXPECT_EQ(reply.status.error_code(), StatusOf(code)) << code;
  }
}

TEST(WireReset, EveryCodeAfterAMessageHasItsStatusForAGrpcCaller) {
  Hostile run(ForEach([](UpstreamPeer& peer, const RawRequest& request) {
                peer.AnswerHead(request.stream);
                peer.WriteData(request.stream, GrpcMessage("one"), false);
                ResetAsAsked(peer, request);
              }),
              kNoRetry);
  for (const uint32_t code : kCodes) {
    ByteCall call(run.channel, "/test.Echo/Stream");
    Asking(code)(call.context());
    ASSERT_TRUE(call.Start());
    ASSERT_TRUE(call.HalfClose());
    EXPECT_EQ(call.Read(), "one") << code;
    EXPECT_FALSE(call.Read().has_value()) << code;
    EXPECT_EQ(call.Finish().error_code(), StatusOf(code)) << code;
  }
}

TEST(WireReset, TheCallerGetsTrailersAndNoResetWhateverTheCode) {
  Wire wire(ForEach(ResetAsAsked));
  for (const uint32_t code : kCodes) {
    const RawAnswer answer =
        wire.client.AnswerTo(wire.client.Call({{"x-code", std::to_string(code)}}));
    EXPECT_FALSE(answer.reset.has_value()) << code;
    EXPECT_TRUE(answer.head_ended) << code;
    EXPECT_EQ(Values(answer.head, "content-type"), "application/grpc") << code;
  }
}

// Reports the number of the RST_STREAM that ends each call; `answer` begins its answer.
RawUpstream::Script TellResets(Told<uint32_t>& resets, Told<int>& arrived, RawAnswerer answer) {
  return [&resets, &arrived, answer](UpstreamPeer& peer) {
    if (!peer.Handshake()) return;
    while (const auto frame = peer.ReadMeaningful()) {
      if (frame->type == FrameType::kReset) resets.Tell(ReadNumber(frame->payload));
      if (frame->type != FrameType::kHeaders) continue;
      const HeaderList head = peer.Decode(*frame);
      if (answer) answer(peer, {.stream = frame->stream, .head = head, .body = ""});
      arrived.Tell(frame->stream);
    }
  };
}

class CallersReset : public testing::Test {
 protected:
  void ExpectCancelForEveryCode(bool half_closed, const RawAnswerer& answer = nullptr) {
    Wire wire(TellResets(resets_, arrived_, answer));
    for (const uint32_t code : kCodes) {
      const int32_t stream = wire.client.Open(RawClient::CallHead(), false);
      wire.client.WriteData(stream, GrpcMessage("hello"), half_closed);
      ASSERT_TRUE(arrived_.Next().has_value()) << code;
      wire.client.WriteReset(stream, static_cast<H2Error>(code));
      EXPECT_EQ(resets_.Next(), static_cast<uint32_t>(H2Error::kCancel)) << code;
    }
    EXPECT_TRUE(
        wire.sidecar.WaitForSum("levee_calls_total", {R"(code="CANCELLED")"}, std::size(kCodes)));
  }

  Told<uint32_t> resets_;
  Told<int> arrived_;
};

TEST_F(CallersReset, OfAnyCodeIsACancellationUpstream) { ExpectCancelForEveryCode(false); }

TEST_F(CallersReset, AfterTheHalfCloseIsACancellationUpstream) { ExpectCancelForEveryCode(true); }

TEST_F(CallersReset, WithinTheAnswerIsACancellationUpstream) {
  ExpectCancelForEveryCode(false, [](UpstreamPeer& peer, const RawRequest& request) {
    peer.AnswerHead(request.stream);
    peer.WriteData(request.stream, GrpcMessage("some").substr(0, 7), false);
  });
}

TEST_F(CallersReset, OfOneCallLeavesTheOthersOnItsConnectionAlone) {
  Wire wire(TellResets(resets_, arrived_, [&](UpstreamPeer& peer, const RawRequest& request) {
    if (Values(request.head, "x-last").empty()) return;
    peer.Answer(1);
    peer.Answer(request.stream);
  }));
  const int32_t stays = wire.client.Call();
  const int32_t goes = wire.client.Call();
  ASSERT_TRUE(arrived_.Next() && arrived_.Next());
  wire.client.WriteReset(goes, H2Error::kCancel);
  EXPECT_TRUE(resets_.Next().has_value());
  const int32_t last = wire.client.Call({{"x-last", "1"}});
  EXPECT_EQ(wire.client.AnswerTo(stays).grpc_status(), "0");
  EXPECT_EQ(wire.client.AnswerTo(last).grpc_status(), "0");
}

TEST_F(CallersReset, ALostConnectionCancelsEachOfItsCalls) {  // A27
  Wire wire(TellResets(resets_, arrived_, nullptr));
  for (const bool orderly : {true, false}) {
    RawClient client(wire.sidecar.address());
    client.Open(RawClient::CallHead(), false);
    client.Open(RawClient::CallHead(), true);
    ASSERT_TRUE(arrived_.Next() && arrived_.Next());
    orderly ? client.connection().Shutdown() : client.connection().Abort();
    EXPECT_EQ(resets_.Next(), static_cast<uint32_t>(H2Error::kCancel)) << orderly;
    EXPECT_EQ(resets_.Next(), static_cast<uint32_t>(H2Error::kCancel)) << orderly;
  }
}

TEST_F(CallersReset, TheDeadlineEndsTheCallInTrailersOnlyAndIsACancellationUpstream) {  // A21
  Wire wire(TellResets(resets_, arrived_, nullptr));
  const RawAnswer answer = wire.client.AnswerTo(wire.client.Call({{"grpc-timeout", "2S"}}));
  EXPECT_TRUE(answer.head_ended);
  EXPECT_EQ(answer.grpc_status(), "4");
  EXPECT_EQ(resets_.Next(), static_cast<uint32_t>(H2Error::kCancel));
}

TEST_F(CallersReset, TheDeadlineWithinAnAnswerComesInItsTrailers) {
  Wire wire(TellResets(resets_, arrived_, [](UpstreamPeer& peer, const RawRequest& request) {
    peer.AnswerHead(request.stream);
    peer.WriteData(request.stream, GrpcMessage("first"), false);
  }));
  const int32_t stream = wire.client.Open(RawClient::CallHead({{"grpc-timeout", "2S"}}), false);
  const RawAnswer answer = wire.client.AnswerTo(stream);
  EXPECT_EQ(answer.body, GrpcMessage("first"));
  EXPECT_EQ(Values(answer.trailers, "grpc-status"), "4");
  EXPECT_EQ(resets_.Next(), static_cast<uint32_t>(H2Error::kCancel));
  // Its own half is open, and nobody wants the rest of it.
  const auto after = wire.client.ReadMeaningful();
  ASSERT_TRUE(after.has_value());
  EXPECT_EQ(after->type, FrameType::kReset);
  EXPECT_EQ(ReadNumber(after->payload), static_cast<uint32_t>(H2Error::kNone));
}

TEST(WireReset, TheConnectionLostAtAnyMomentIsUnavailable) {
  // After so many of: head, half a message, the rest of it.
  for (int parts = 0; parts <= 3; ++parts) {
    Hostile run(FirstThenGood([parts](UpstreamPeer& peer, const RawRequest& request) {
                  if (parts > 0) peer.AnswerHead(request.stream);
                  if (parts > 1)
                    peer.WriteData(request.stream, GrpcMessage("12").substr(0, 6), false);
                  if (parts > 2) peer.WriteData(request.stream, GrpcMessage("12").substr(6), false);
                  peer.connection().Shutdown();
                }),
                kNoRetry);
    EXPECT_EQ(CallUnary(run.channel).status.error_code(), StatusCode::UNAVAILABLE) << parts;
  }
}

TEST(WireReset, AStreamIsRefusedOnlyIfItSurelyNeverReachedTheUpstream) {
  Told<int> arrived;
  Wire wire(
      [&](UpstreamPeer& peer) {
        peer.Handshake();
        while (const auto head = peer.NextHead()) arrived.Tell(head->stream);
      },
      "limits: {streams_per_connection: 1}\n");
  wire.client.Open(RawClient::CallHead(), true);
  // In one packet with the first, before the sidecar's limit can be known.
  const RawAnswer answer = wire.client.AnswerTo(wire.client.Open(RawClient::CallHead(), true));
  EXPECT_EQ(answer.reset, static_cast<uint32_t>(H2Error::kRefusedStream));
  ASSERT_TRUE(arrived.Next().has_value());
  EXPECT_EQ(wire.sidecar.Sum("levee_active_calls"), 1);
}

}  // namespace
}  // namespace levee
