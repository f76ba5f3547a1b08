// SPDX-License-Identifier: Apache-2.0
// Upstreams that behave badly, and what the caller is told of it.
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "integration/scripted.h"

namespace levee {
namespace {

using grpc::StatusCode;
using testing::HasSubstr;

TEST(Hostile, AServiceThatSpeaksAnotherProtocolIsToldFromOneThatIsAway) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {{"\x15\x03\x01\x00\x02\x02\x46", 7}, "the service speaks TLS"},
      {"HTTP/1.1 400 Bad Request\r\n\r\n", "the service speaks HTTP/1"},
      {"", "does the service speak TLS?"}};
  for (const auto& [first, reason] : cases) {
    RawUpstream upstream([first = first](UpstreamPeer& peer) {
      peer.connection().Send(first);
      peer.connection().ShutdownWrite();
      peer.connection().ReadAll();
    });
    SidecarProcess sidecar({.endpoints = {upstream.address()}, .retry = kNoRetry});
    const Reply reply = CallUnary(NewChannel(sidecar.address()));
    EXPECT_EQ(reply.status.error_code(), StatusCode::UNAVAILABLE);
    EXPECT_THAT(reply.status.error_message(), HasSubstr(reason));
  }
}

TEST(Hostile, A12_AnInformationalHeadIsSkippedAndTheFailureAfterItRetried) {
  Hostile run(FirstThenGood([](UpstreamPeer& peer, const RawRequest& request) {
    peer.WriteHeaders(request.stream, {{":status", "103"}, {"link", "</x>"}}, false);
    peer.AnswerTrailersOnly(request.stream, 14);
  }));
  EXPECT_EQ(CallUnary(run.channel).body, "fine");
  EXPECT_EQ(run.sidecar.Sum("levee_retries_total", {R"(trigger="status")"}), 1);
}

TEST(Hostile, A10_AnEmptyDataFrameAtTheEndIsNoStatus) {
  Hostile run(FirstThenGood([](UpstreamPeer& peer, const RawRequest& request) {
    peer.AnswerHead(request.stream);
    peer.WriteData(request.stream, "", true);
  }));
  EXPECT_EQ(CallUnary(run.channel).status.error_code(), StatusCode::UNKNOWN);
}

void AnswerHttp503(UpstreamPeer& peer, const RawRequest& request) {
  peer.WriteHeaders(request.stream, {{":status", "503"}, {"content-type", "text/plain"}}, false);
  peer.WriteData(request.stream, "no healthy upstream", true);
}

TEST(Hostile, A11_AnHttp503WithTextIsRetriedAsUnavailable) {
  Hostile run(FirstThenGood(AnswerHttp503));
  EXPECT_EQ(CallUnary(run.channel).body, "fine");
  EXPECT_EQ(run.sidecar.Sum("levee_retries_total", {R"(code="UNAVAILABLE")"}), 1);
}

TEST(Hostile, A11_AnHttp503ThatIsNotRetriedIsAnsweredInGrpc) {
  Hostile run(FirstThenGood(AnswerHttp503), Patient(", codes: []"));
  const Reply reply = CallUnary(run.channel);
  EXPECT_EQ(reply.status.error_code(), StatusCode::UNAVAILABLE);
  EXPECT_THAT(reply.status.error_message(), HasSubstr("HTTP status 503"));
}

TEST(Hostile, A53_ARefusedStreamIsRetriedOnceOutsideTheCount) {  // A56, A57
  std::string previous = "none";
  Hostile run(
      [&](UpstreamPeer& peer) {
        peer.Handshake();
        auto request = peer.NextRequest();
        if (!request.has_value()) return;
        peer.WriteReset(request->stream, H2Error::kRefusedStream);
        request = peer.NextRequest();
        if (!request.has_value()) return;
        previous = Values(request->head, "grpc-previous-rpc-attempts");
        peer.Answer(request->stream);
        peer.ReadToEnd();
      },
      "{max_attempts: 1, budget: {ratio: 100}}");
  EXPECT_EQ(CallUnary(run.channel).body, "fine");
  EXPECT_EQ(previous, "");
  EXPECT_EQ(run.sidecar.Sum("levee_transparent_retries_total"), 1);
}

TEST(Hostile, A53_ASecondRefusedStreamGoesToThePolicy) {
  Hostile run(
      [](UpstreamPeer& peer) {
        peer.Handshake();
        while (const auto request = peer.NextRequest()) {
          peer.WriteReset(request->stream, H2Error::kRefusedStream);
        }
      },
      "{max_attempts: 1, budget: {ratio: 100}}");
  EXPECT_EQ(CallUnary(run.channel).status.error_code(), StatusCode::UNAVAILABLE);
  EXPECT_EQ(run.sidecar.Sum("levee_attempts_total"), 2);
}

TEST(Hostile, A54_ACallAboveTheLastStreamOfAGoawayGoesToANewConnection) {
  Hostile run(FirstThenGood([](UpstreamPeer& peer, const RawRequest&) { peer.WriteGoaway(0); }));
  EXPECT_EQ(CallUnary(run.channel).body, "fine");
  EXPECT_EQ(run.upstream.connections(), 2);
  EXPECT_EQ(run.sidecar.Sum("levee_transparent_retries_total"), 1);
}

TEST(Hostile, AGoawayAfterAnAnswerMovesLaterCallsToANewConnection) {  // goaway
  Hostile run([](UpstreamPeer& peer) {
    peer.Handshake();
    const auto request = peer.NextRequest();
    if (!request.has_value()) return;
    peer.WriteGoaway(request->stream);
    peer.Answer(request->stream);
    peer.AnswerRest();
  });
  for (int i = 0; i < 5; ++i) EXPECT_EQ(CallUnary(run.channel).body, "fine") << i;
  EXPECT_GE(run.upstream.connections(), 5);
  EXPECT_EQ(run.sidecar.Sum("levee_retries_total"), 0);
}

TEST(Hostile, AConnectionToldToGoIsClosedWhenItsLastCallEnds) {
  Hostile run(FirstThenGood([](UpstreamPeer& peer, const RawRequest& request) {
    peer.WriteGoaway(request.stream);
    peer.Answer(request.stream);
  }));
  EXPECT_EQ(CallUnary(run.channel).body, "fine");
  EXPECT_EQ(CallUnary(run.channel).body, "fine");
  EXPECT_EQ(run.upstream.connections(), 2);
  EXPECT_TRUE(run.sidecar.WaitForSum("levee_upstream_connections", {}, 1));
}

TEST(Hostile, A55_AResetAfterTheHeadIsRetriedOnlyIfListed) {  // A68, rst_after_header
  const auto script = FirstThenGood([](UpstreamPeer& peer, const RawRequest& request) {
    peer.AnswerHead(request.stream);
    peer.WriteReset(request.stream, H2Error::kInternal);
  });
  Hostile plain(script);
  EXPECT_EQ(CallUnary(plain.channel).status.error_code(), StatusCode::INTERNAL);
  Hostile listed(script, Patient(", hold: 10s, failures: [reset]"));
  EXPECT_EQ(CallUnary(listed.channel).body, "fine");
}

TEST(Hostile, A58_ARefusalAfterTheHeadIsNoRefusal) {
  Hostile run(FirstThenGood([](UpstreamPeer& peer, const RawRequest& request) {
    peer.AnswerHead(request.stream);
    peer.WriteReset(request.stream, H2Error::kRefusedStream);
  }));
  EXPECT_EQ(CallUnary(run.channel).status.error_code(), StatusCode::UNAVAILABLE);
  EXPECT_EQ(run.sidecar.Sum("levee_retries_total"), 0);
}

TEST(Hostile, AResetWithinAMessageEndsTheCall) {  // rst_during_data
  Hostile run(FirstThenGood([](UpstreamPeer& peer, const RawRequest& request) {
                peer.AnswerHead(request.stream);
                peer.WriteData(request.stream, GrpcMessage(std::string(1000, 'd')).substr(0, 500),
                               false);
                peer.WriteReset(request.stream, H2Error::kInternal);
              }),
              Patient(", failures: [reset]"));
  EXPECT_EQ(CallUnary(run.channel).status.error_code(), StatusCode::INTERNAL);
  EXPECT_EQ(run.sidecar.Sum("levee_retries_total"), 0);
}

TEST(Hostile, AResetAfterAMessageEndsTheCall) {  // rst_after_data
  Hostile run(FirstThenGood([](UpstreamPeer& peer, const RawRequest& request) {
    peer.AnswerHead(request.stream);
    peer.WriteData(request.stream, GrpcMessage("all of it"), false);
    peer.WriteReset(request.stream, H2Error::kEnhanceYourCalm);
  }));
  ByteCall call(run.channel, "/test.Echo/Stream");
  ASSERT_TRUE(call.Start());
  ASSERT_TRUE(call.HalfClose());
  EXPECT_EQ(call.Read(), "all of it");
  EXPECT_FALSE(call.Read().has_value());
  EXPECT_EQ(call.Finish().error_code(), StatusCode::RESOURCE_EXHAUSTED);
}

TEST(Hostile, EveryResetCodeHasItsStatus) {
  // gRPC over HTTP/2, "Errors", by the error code's number; the 7th is retried as refused.
  const StatusCode expected[] = {
      StatusCode::INTERNAL,          StatusCode::INTERNAL,    StatusCode::INTERNAL,
      StatusCode::INTERNAL,          StatusCode::INTERNAL,    StatusCode::UNKNOWN,
      StatusCode::INTERNAL,          StatusCode::UNAVAILABLE, StatusCode::CANCELLED,
      StatusCode::INTERNAL,          StatusCode::INTERNAL,    StatusCode::RESOURCE_EXHAUSTED,
      StatusCode::PERMISSION_DENIED, StatusCode::UNKNOWN,     StatusCode::UNKNOWN};
  std::atomic<uint32_t> code = 0;
  Hostile run(
      [&](UpstreamPeer& peer) {
        peer.Handshake();
        while (const auto request = peer.NextRequest()) {
          peer.WriteReset(request->stream, static_cast<H2Error>(code.load()));
        }
      },
      "{max_attempts: 1}");
  for (; code < std::size(expected); ++code) {
    EXPECT_EQ(CallUnary(run.channel).status.error_code(), expected[code]) << code;
  }
}

TEST(Hostile, AConnectionLostInTheAnswerEndsTheCall) {
  Hostile run(FirstThenGood([](UpstreamPeer& peer, const RawRequest& request) {
    peer.AnswerHead(request.stream);
    peer.WriteData(request.stream, GrpcMessage("some"), false);
    peer.connection().Shutdown();
  }));
  const Reply reply = CallUnary(run.channel);
  EXPECT_EQ(reply.status.error_code(), StatusCode::UNAVAILABLE);
  EXPECT_THAT(reply.status.error_message(), HasSubstr("lost"));
  EXPECT_EQ(CallUnary(run.channel).body, "fine");
}

TEST(Hostile, A55_AConnectionLostBeforeTheAnswerIsRetriedOnlyIfListed) {
  const auto script =
      FirstThenGood([](UpstreamPeer& peer, const RawRequest&) { peer.connection().Abort(); });
  Hostile plain(script);
  EXPECT_EQ(CallUnary(plain.channel).status.error_code(), StatusCode::UNAVAILABLE);
  EXPECT_EQ(plain.sidecar.Sum("levee_retries_total"), 0);
  Hostile listed(script, Patient(", failures: [reset, connect]"));
  EXPECT_EQ(CallUnary(listed.channel).body, "fine");
}

TEST(Hostile, PingsAreAnsweredAndHarmNothing) {  // ping
  std::atomic<int> acknowledged = 0;
  Hostile run([&](UpstreamPeer& peer) {
    peer.Handshake();
    peer.Write(FrameType::kPing, 0, 0, "pingping");
    while (const auto frame = peer.Read()) {
      if (frame->type == FrameType::kPing) ++acknowledged;
      if (!frame->ends_stream() || frame->type != FrameType::kData) continue;
      peer.AnswerHead(frame->stream);
      peer.Write(FrameType::kPing, 0, 0, "pingping");
      peer.WriteData(frame->stream, GrpcMessage("fine"), false);
      peer.Write(FrameType::kPing, 0, 0, "pingping");
      peer.AnswerTrailers(frame->stream, 0);
    }
  });
  for (int i = 0; i < 3; ++i) EXPECT_EQ(CallUnary(run.channel).body, "fine");
  EXPECT_GE(acknowledged, 5);  // Frames of the last call may still be on their way.
}

// Sends `frames` padded frames of one byte each as the window allows.
void SendPadded(UpstreamPeer& peer, int32_t stream, int frames) {
  constexpr int kFrameBytes = 1 + 1 + 255;
  int window = 256 * 1024;  // The limit that the sidecar announces.
  for (int sent = 0; sent < frames;) {
    if (window >= kFrameBytes) {
      peer.Write(FrameType::kData, kPadded, stream,
                 '\xff' + std::string("x") + std::string(255, 0));
      window -= kFrameBytes;
      ++sent;
      continue;
    }
    const auto frame = peer.Read();
    if (!frame.has_value()) return;
    const bool update = frame->type == FrameType::kWindowUpdate && frame->stream == stream;
    if (update) window += static_cast<int>(ReadNumber(frame->payload));
  }
}

TEST(Hostile, PaddingOfDataFramesIsReturnedAsWindow) {  // data_frame_padding
  // Three times the window that the sidecar announces, nearly all of it padding.
  constexpr int kFrames = 3000;
  Hostile run(FirstThenGood([](UpstreamPeer& peer, const RawRequest& request) {
    peer.AnswerHead(request.stream);
    peer.WriteData(request.stream, GrpcMessage(std::string(kFrames, 'x')).substr(0, 5), false);
    SendPadded(peer, request.stream, kFrames);
    peer.AnswerTrailers(request.stream, 0);
  }));
  const Reply reply = CallUnary(run.channel);
  EXPECT_TRUE(reply.status.ok()) << reply.status.error_message();
  EXPECT_EQ(reply.body, std::string(kFrames, 'x'));
}

TEST(Hostile, MetadataOverTheLimitIsInternalAndNotRetried) {  // C10
  Hostile run(FirstThenGood([](UpstreamPeer& peer, const RawRequest& request) {
    peer.AnswerTrailersOnly(request.stream, 14, {{"x-big", std::string(150'000, 'b')}});
  }));
  const Reply reply = CallUnary(run.channel);
  EXPECT_EQ(reply.status.error_code(), StatusCode::INTERNAL);
  EXPECT_THAT(reply.status.error_message(), HasSubstr("limits.metadata_bytes"));
  EXPECT_EQ(CallUnary(run.channel).body, "fine");
  EXPECT_EQ(run.upstream.connections(), 1);
}

TEST(Hostile, BytesThatAreNoHttp2CostOneConnection) {
  Hostile run([](UpstreamPeer& peer) {
    if (peer.number() == 1) {
      peer.Handshake();
      if (peer.NextRequest().has_value()) peer.connection().Send(std::string(100, '\xee'));
      peer.ReadToEnd();
      return;
    }
    peer.Handshake();
    peer.AnswerRest();
  });
  EXPECT_EQ(CallUnary(run.channel).status.error_code(), StatusCode::UNAVAILABLE);
  EXPECT_EQ(CallUnary(run.channel).body, "fine");
}

TEST(Hostile, A38_ARepeatedPushbackEndsRetrying) {
  Hostile run(FirstThenGood([](UpstreamPeer& peer, const RawRequest& request) {
    peer.AnswerTrailersOnly(request.stream, 14,
                            {{"grpc-retry-pushback-ms", "1"}, {"grpc-retry-pushback-ms", "1"}});
  }));
  EXPECT_EQ(CallUnary(run.channel).status.error_code(), StatusCode::UNAVAILABLE);
}

}  // namespace
}  // namespace levee
