// SPDX-License-Identifier: Apache-2.0
// GOAWAY in all its forms: from upstreams, from callers, and the sidecar's own.
#include <chrono>
#include <csignal>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "integration/scripted.h"

namespace levee {
namespace {

using grpc::StatusCode;
using testing::ElementsAre;

constexpr int32_t kAnyStream = 0x7fffffff;

// Two calls arrive on the first connection, which then sends GOAWAY with `last_stream` and answers
// whatever that does not exclude. Further connections answer well.
RawUpstream::Script GoawayDuringTwoCalls(int32_t last_stream, H2Error error = H2Error::kNone) {
  return [last_stream, error](UpstreamPeer& peer) {
    if (!peer.Handshake()) return;
    if (peer.number() == 1) {
      const auto first = peer.NextRequest();
      const auto second = peer.NextRequest();
      if (!first.has_value() || !second.has_value()) return;
      peer.WriteGoaway(last_stream, error);
      for (const int32_t stream : {first->stream, second->stream}) {
        if (stream <= last_stream) peer.Answer(stream, "old");
      }
    }
    while (const auto request = peer.NextRequest()) peer.Answer(request->stream, "new");
  };
}

// Both calls, on one connection, in their order.
std::vector<std::string> AnswersToTwoCalls(Wire& wire) {
  const int32_t first = wire.client.Call();
  const int32_t second = wire.client.Call();
  std::vector<std::string> bodies;
  for (const int32_t stream : {first, second}) {
    const RawAnswer answer = wire.client.AnswerTo(stream);
    EXPECT_EQ(answer.grpc_status(), "0") << answer.grpc_message();
    bodies.push_back(answer.body);
  }
  return bodies;
}

TEST(Goaway, CallsUpToTheLastStreamFinishAndThoseAboveGoElsewhere) {  // A54
  Wire wire(GoawayDuringTwoCalls(1));
  EXPECT_THAT(AnswersToTwoCalls(wire), ElementsAre(GrpcMessage("old"), GrpcMessage("new")));
  EXPECT_EQ(wire.sidecar.Sum("levee_transparent_retries_total"), 1);
}

TEST(Goaway, ALastStreamBelowAllSendsEveryCallElsewhere) {
  Wire wire(GoawayDuringTwoCalls(0));
  EXPECT_THAT(AnswersToTwoCalls(wire), ElementsAre(GrpcMessage("new"), GrpcMessage("new")));
  EXPECT_EQ(wire.sidecar.Sum("levee_transparent_retries_total"), 2);
}

TEST(Goaway, ALastStreamAtOrAboveAllLetsEveryCallFinish) {
  for (const int32_t last_stream : {3, 5, kAnyStream}) {
    Wire wire(GoawayDuringTwoCalls(last_stream));
    EXPECT_THAT(AnswersToTwoCalls(wire), ElementsAre(GrpcMessage("old"), GrpcMessage("old")));
    EXPECT_EQ(wire.client.AnswerTo(wire.client.Call()).body, GrpcMessage("new")) << last_stream;
    EXPECT_EQ(wire.sidecar.Sum("levee_retries_total"), 0) << last_stream;
  }
}

TEST(Goaway, OfAnyErrorCodeMeansTheSame) {
  for (const H2Error error : {H2Error::kProtocol, H2Error::kInternal, H2Error::kEnhanceYourCalm}) {
    Wire wire(GoawayDuringTwoCalls(1, error));
    EXPECT_THAT(AnswersToTwoCalls(wire), ElementsAre(GrpcMessage("old"), GrpcMessage("new")));
  }
}

TEST(Goaway, InTwoStepsDisturbsNoCall) {
  Told<bool> successor, closed;
  Wire wire([&](UpstreamPeer& peer) {
    if (!peer.Handshake()) return;
    if (peer.number() > 1) {
      successor.Tell(true);
      return peer.AnswerRest();
    }
    const auto request = peer.NextRequest();
    if (!request.has_value()) return;
    peer.WriteGoaway(kAnyStream);
    // It is there although nobody has called again.
    EXPECT_TRUE(successor.Next().has_value());
    peer.WriteGoaway(request->stream);
    peer.Answer(request->stream, "old");
    peer.ReadToEnd();
    closed.Tell(true);
  });
  EXPECT_EQ(wire.client.AnswerTo(wire.client.Call()).body, GrpcMessage("old"));
  EXPECT_TRUE(closed.Next().has_value());
  EXPECT_EQ(wire.client.AnswerTo(wire.client.Call()).body, GrpcMessage("fine"));
  EXPECT_EQ(wire.upstream.connections(), 2);
  EXPECT_EQ(wire.sidecar.Sum("levee_retries_total"), 0);
}

TEST(Goaway, ACallThatTheSecondStepExcludesGoesElsewhere) {
  Wire wire([](UpstreamPeer& peer) {
    if (!peer.Handshake()) return;
    if (peer.number() == 1) {
      const auto request = peer.NextRequest();
      if (!request.has_value()) return;
      peer.WriteGoaway(kAnyStream);
      peer.WriteGoaway(0);
      peer.ReadToEnd();
    }
    peer.AnswerRest();
  });
  EXPECT_EQ(wire.client.AnswerTo(wire.client.Call()).body, GrpcMessage("fine"));
  EXPECT_EQ(wire.sidecar.Sum("levee_transparent_retries_total"), 1);
}

TEST(Goaway, A55_ACallBelowTheLastStreamThatIsNotAnsweredIsLost) {
  Hostile run(FirstThenGood([](UpstreamPeer& peer, const RawRequest& request) {
    peer.WriteGoaway(request.stream, H2Error::kNone, "deploying 1.7");
    peer.connection().Shutdown();
  }));
  const Reply reply = CallUnary(run.channel);
  EXPECT_EQ(reply.status.error_code(), StatusCode::UNAVAILABLE);
  EXPECT_EQ(reply.status.error_message(),
            "the connection to the upstream was lost; the upstream is going away: deploying 1.7");
  EXPECT_EQ(run.sidecar.Sum("levee_retries_total"), 0);
}

TEST(Goaway, WithinAnAnswerLetsItFinishForAGrpcCaller) {
  Hostile run(FirstThenGood([](UpstreamPeer& peer, const RawRequest& request) {
    peer.AnswerHead(request.stream);
    peer.WriteData(request.stream, GrpcMessage("0123456789").substr(0, 9), false);
    peer.WriteGoaway(request.stream, H2Error::kEnhanceYourCalm);
    peer.WriteData(request.stream, GrpcMessage("0123456789").substr(9), false);
    peer.AnswerTrailers(request.stream, 0);
  }));
  EXPECT_EQ(CallUnary(run.channel).body, "0123456789");
}

TEST(Goaway, BeforeAnyCallMovesTheFirstOneToANewConnection) {
  Hostile run([](UpstreamPeer& peer) {
    if (!peer.Handshake()) return;
    if (peer.number() == 1) peer.WriteGoaway(0);
    peer.AnswerRest();
  });
  EXPECT_EQ(CallUnary(run.channel).body, "fine");
  EXPECT_EQ(run.upstream.connections(), 2);
}

// Calls one after the other until one worker has connected six times. That is to take its time,
// since the first two connections are made at once, and while calls want the endpoint one every 125
// to 250 ms.
void ExpectNoDialStorm(RawUpstream::Script script) {
  RawUpstream upstream(std::move(script));
  SidecarProcess sidecar({.endpoints = {upstream.address()},
                          .retry = kNoRetry,
                          .upstream = ", reconnect: {initial: 10s, max: 10s, jitter: none}"},
                         {"--workers", "1"});
  const ChannelPtr channel = NewChannel(sidecar.address());
  const auto start = std::chrono::steady_clock::now();
  while (upstream.connections() < 6) CallUnary(channel);
  EXPECT_GE(std::chrono::steady_clock::now() - start, std::chrono::milliseconds(4 * 125));
}

TEST(Goaway, H12_ThatExcludesEveryCallOnEveryConnectionIsNoDialStorm) {
  ExpectNoDialStorm([](UpstreamPeer& peer) {
    if (!peer.Handshake() || !peer.NextRequest().has_value()) return;
    peer.WriteGoaway(0);
  });
}

TEST(Goaway, H12_ThatLeavesEveryCallUnansweredIsNoDialStorm) {
  ExpectNoDialStorm([](UpstreamPeer& peer) {
    if (!peer.Handshake()) return;
    const auto request = peer.NextRequest();
    if (request.has_value()) peer.WriteGoaway(request->stream);
  });
}

// The sidecar has acknowledged the upstream's settings: it takes the connection for a good one.
TEST(Goaway, H12_AsSoonAsEveryConnectionIsReadyIsNoDialStorm) {
  ExpectNoDialStorm([](UpstreamPeer& peer) {
    if (!peer.Handshake()) return;
    while (const auto frame = peer.Read()) {
      if (frame->type == FrameType::kSettings && (frame->flags & kAck) != 0) break;
    }
    peer.WriteGoaway(0);
  });
}

TEST(Goaway, WithTheSettingsOfEveryConnectionIsNoDialStorm) {
  ExpectNoDialStorm([](UpstreamPeer& peer) {
    if (peer.Handshake()) peer.WriteGoaway(0);
  });
}

TEST(Goaway, H12_AfterEveryAnswerCostsNoCall) {
  Hostile run(ForEach([](UpstreamPeer& peer, const RawRequest& request) {
                peer.WriteGoaway(request.stream);
                peer.Answer(request.stream);
              }),
              kNoRetry);
  for (int call = 0; call < 50; ++call) EXPECT_EQ(CallUnary(run.channel).body, "fine");
}

// 200 SETTINGS at once: more than are allowed, and fewer than what closes the connection.
TEST(Goaway, H16_IsWhatTooManySettingsOfAnUpstreamGetAndTheCallInFlightFinishes) {
  Hostile run(
      [](UpstreamPeer& peer) {
        if (!peer.Handshake()) return;
        if (peer.number() > 1) return peer.AnswerRest();
        const auto request = peer.NextRequest();
        if (!request.has_value()) return;
        const std::string setting = Setting(SettingId::kInitialWindowSize, 1 << 16);
        for (int i = 0; i < 200; ++i) peer.Write(FrameType::kSettings, 0, 0, setting);
        peer.Answer(request->stream, "in flight");
        peer.ReadToEnd();
      },
      kNoRetry);
  EXPECT_EQ(CallUnary(run.channel).body, "in flight");
  EXPECT_EQ(CallUnary(run.channel).body, "fine");
  EXPECT_EQ(run.upstream.connections(), 2);
  EXPECT_EQ(run.sidecar.Sum("levee_limit_hits_total", {R"(limit="idle_frames_per_second")"}), 1);
}

TEST(Goaway, InThePlaceOfSettingsIsAConnectionThatFailed) {
  // The first connection has failed by the time of a retry; the second one is surely there for one.
  Hostile run(
      [](UpstreamPeer& peer) {
        if (peer.number() == 1) {
          peer.WriteGoaway(0);
          return peer.ReadToEnd();
        }
        peer.Handshake();
        peer.AnswerRest();
      },
      Patient());
  EXPECT_EQ(CallUnary(run.channel).body, "fine");
  EXPECT_GE(run.sidecar.Sum("levee_retries_total", {R"(trigger="connect")"}), 1);
}

TEST(Goaway, OfACallerLeavesItsCallsTheirAnswers) {
  Told<bool> said;
  Wire wire(ForEach([&](UpstreamPeer& peer, const RawRequest& request) {
    said.Next();
    peer.Answer(request.stream);
  }));
  const int32_t stream = wire.client.Call();
  wire.client.WriteGoaway(0);
  said.Tell(true);
  EXPECT_EQ(wire.client.AnswerTo(stream).body, GrpcMessage("fine"));
  // Nothing more is to come on it.
  EXPECT_FALSE(wire.client.ReadMeaningful().has_value());
  EXPECT_TRUE(wire.sidecar.WaitForSum("levee_downstream_connections", {}, 0));
}

TEST(Goaway, ACallOnItsWayAtTheSidecarsOwnFirstStepIsStillServed) {
  Wire wire(
      ForEach([](UpstreamPeer& peer, const RawRequest& request) { peer.Answer(request.stream); }));
  EXPECT_EQ(wire.client.AnswerTo(wire.client.Call()).grpc_status(), "0");
  wire.sidecar.process().Signal(SIGTERM);
  const auto notice = wire.client.ReadMeaningful();
  ASSERT_TRUE(notice.has_value());
  EXPECT_EQ(notice->type, FrameType::kGoaway);
  EXPECT_EQ(ReadNumber(notice->payload), static_cast<uint32_t>(kAnyStream));
  EXPECT_EQ(wire.client.AnswerTo(wire.client.Call()).grpc_status(), "0");
  const auto last = wire.client.ReadMeaningful();
  ASSERT_TRUE(last.has_value());
  EXPECT_EQ(last->type, FrameType::kGoaway);
  EXPECT_EQ(ReadNumber(last->payload), 3u);
  EXPECT_EQ(ReadNumber(last->payload, 4), static_cast<uint32_t>(H2Error::kNone));
  EXPECT_FALSE(wire.client.Read().has_value());
}

}  // namespace
}  // namespace levee
