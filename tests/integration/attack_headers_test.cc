// SPDX-License-Identifier: Apache-2.0
// Header blocks that are too long, too large when decoded, or without end.
#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "integration/attacker.h"
#include "integration/mebibyte.h"
#include "integration/scripted.h"

namespace levee {
namespace {

std::string CallStatus(Wire& wire) {
  return wire.client.AnswerTo(wire.client.Call()).grpc_status();
}

// By the bytes of the one field in each frame; 0: none.
class ContinuationFlood : public testing::TestWithParam<size_t> {};

TEST_P(ContinuationFlood, C5_IsClosedBeforeTheBlockEnds) {
  Wire wire(ForEach(AnswerWell));
  EXPECT_EQ(CallStatus(wire), "0");
  Attacker attacker(wire.sidecar.address());
  attacker.Send(EncodeFrame(FrameType::kHeaders, 0, 1, Encode(RawClient::CallHead())));
  const size_t size = GetParam();
  const std::string fields = size == 0 ? "" : Encode({{"x-filler", std::string(size, 'x')}});
  const std::string frame = EncodeFrame(FrameType::kContinuation, 0, 1, fields);
  attacker.Flood(100'000, [&](int) { return frame; });
  EXPECT_EQ(attacker.AwaitEnd(), kCalm);
  EXPECT_EQ(Hits(wire.sidecar, "header_block_bytes"), 1);
  EXPECT_EQ(CallStatus(wire), "0");
}

INSTANTIATE_TEST_SUITE_P(OfBytes, ContinuationFlood, testing::Values(0, 8, 8000),
                         testing::PrintToStringParamName());

// HPACK (RFC 7541, section 6.2.1): a literal that the decoder keeps, so that one byte refers to it
// from then on. Name, value and 32 bytes must not exceed its table, 4096 bytes.
std::string Kept(const std::string& name, const std::string& value) {
  std::string literal = Encode({{name, value}});
  literal[0] = '\x40';
  return literal;
}
constexpr char kNewestEntry = '\xbe';

// Fields of a call, and behind them many that cost one byte each.
struct Bomb {
  const char* name;
  const char* field;
  size_t value_bytes;
};

class HeaderBomb : public testing::TestWithParam<Bomb> {
 protected:
  std::string Block(bool first) const {
    const Bomb& bomb = GetParam();
    return Encode(RawClient::CallHead()) +
           (first ? Kept(bomb.field, std::string(bomb.value_bytes, 'x')) : "") +
           std::string(12'000, kNewestEntry);
  }

  // Throws three of them; each is refused, or the connection ends.
  void Throw(RawClient& attacker) const {
    for (int i = 0; i < 3; ++i) {
      const int32_t stream = StreamOf(i);
      attacker.Write(FrameType::kHeaders, kEndHeaders | kEndStream, stream, Block(i == 0));
      const RawAnswer answer = attacker.AnswerTo(stream);
      if (!answer.ended && !answer.reset.has_value()) return;
      EXPECT_EQ(answer.grpc_status(), "8");
    }
  }
};

TEST_P(HeaderBomb, C6_IsRefusedAndCostsItsConnectionLessThanAMebibyte) {
  Wire wire(ForEach(AnswerWell));
  EXPECT_EQ(CallStatus(wire), "0");
  RawClient first(wire.sidecar.address());
  Throw(first);
  const long before = wire.sidecar.process().ResidentBytes();
  constexpr int kAttackers = 16;
  std::vector<std::unique_ptr<RawClient>> attackers;
  for (int i = 0; i < kAttackers; ++i) {
    attackers.push_back(std::make_unique<RawClient>(wire.sidecar.address()));
    Throw(*attackers.back());
  }
  const long grown = wire.sidecar.process().ResidentBytes() - before;
  EXPECT_LT(grown, kAttackers * kMiB + kSanitizerMayKeep);
  EXPECT_GT(Hits(wire.sidecar, "metadata_bytes") + Hits(wire.sidecar, "metadata_fields") +
                Hits(wire.sidecar, "header_block_bytes"),
            0);
  EXPECT_EQ(CallStatus(wire), "0");
}

INSTANTIATE_TEST_SUITE_P(Of, HeaderBomb,
                         testing::Values(Bomb{"LargeFields", "x", 4000},
                                         Bomb{"CookieCrumbs", "cookie", 3}),
                         [](const auto& param) { return std::string(param.param.name); });

// A block with a number, to which each further byte refers. With 4040 digits, which are as many as
// can be kept, the fields stand for thousands of times as many bytes as are sent.
std::string Digits(size_t count = 4040) {
  return Encode(RawClient::CallHead()) + Kept("content-length", std::string(count, '1')) +
         std::string(12'000, kNewestEntry);
}

// What the sidecar works for calls with such a head, each of which is refused.
std::chrono::nanoseconds WorkFor(Wire& wire, const std::string& block) {
  const auto before = wire.sidecar.process().CpuTime();
  for (int i = 0; i < 20; ++i) {
    RawClient attacker(wire.sidecar.address());
    attacker.Write(FrameType::kHeaders, kEndHeaders | kEndStream, 1, block);
    EXPECT_NE(attacker.AnswerTo(1).grpc_status(), "0");
  }
  return wire.sidecar.process().CpuTime() - before;
}

// The other HpackBounds count what is decoded.
TEST(HpackBoundsSoak, H1_ABlockCostsByItsBytesWhateverTheyReferTo) {
  Wire wire(ForEach(AnswerWell));
  WorkFor(wire, Digits(1));  // for the first time
  EXPECT_LT(WorkFor(wire, Digits()), 5 * WorkFor(wire, Digits(1)));
}

TEST(HpackBounds, H1_AnHonestCallerIsServedBesideBlocksThatReferToLargeFields) {
  Wire wire(ForEach(AnswerWell));
  EXPECT_EQ(CallStatus(wire), "0");
  constexpr int kAttackers = 400;
  std::vector<std::unique_ptr<Attacker>> attackers;
  for (int i = 0; i < kAttackers; ++i) {
    attackers.push_back(std::make_unique<Attacker>(wire.sidecar.address()));
    attackers.back()->Send(EncodeFrame(FrameType::kHeaders, kEndHeaders | kEndStream, 1, Digits()));
  }
  ASSERT_EQ(CallStatus(wire), "0");
  for (auto& attacker : attackers) ASSERT_EQ(attacker->AwaitEnd(), kCalm);
  EXPECT_EQ(Hits(wire.sidecar, "header_block_bytes"), kAttackers);
}

// The first frame of a header block whose end does not come.
std::string HalfABlock(size_t bytes) {
  return EncodeFrame(FrameType::kHeaders, 0, 1, std::string(bytes, 'x'));
}

TEST(UnfinishedBlocks, H6_AreClosedAfterTenSecondsAlone) {
  Wire wire(ForEach(AnswerWell));
  const int32_t waiting = wire.client.Open(RawClient::CallHead(), false);
  Attacker between(wire.sidecar.address());
  between.Send(HalfABlock(1000));
  Attacker within(wire.sidecar.address());
  within.Send(HalfABlock(1000).substr(0, 500));
  Attacker empty(wire.sidecar.address());
  empty.Send(HalfABlock(0));
  for (Attacker* attacker : {&between, &within, &empty}) {
    EXPECT_EQ(attacker->AwaitEnd(), std::nullopt);
  }
  EXPECT_EQ(Hits(wire.sidecar, "header_time"), 3);
  // A body may take longer.
  wire.client.WriteData(waiting, GrpcMessage("hello"), true);
  EXPECT_EQ(wire.client.AnswerTo(waiting).grpc_status(), "0");
}

TEST(UnfinishedBlocks, H6_OfAllConnectionsHaveABoundThatTheOldestMeet) {
  Wire wire(ForEach(AnswerWell));
  EXPECT_EQ(CallStatus(wire), "0");
  constexpr int kBytes = 16'000;
  constexpr int kFit = 8 * kMiB / kBytes;
  constexpr int kMore = 50;
  std::vector<std::unique_ptr<Attacker>> attackers;
  for (int i = 0; i < kFit + kMore; ++i) {
    attackers.push_back(std::make_unique<Attacker>(wire.sidecar.address()));
    attackers.back()->Send(HalfABlock(kBytes));
    // Each begins when the one before has begun.
    if (i % 50 == 0) {
      EXPECT_EQ(CallStatus(wire), "0");
    }
  }
  EXPECT_EQ(attackers.front()->AwaitEnd(), std::nullopt);
  EXPECT_TRUE(
      wire.sidecar.WaitForSum("levee_limit_hits_total", {R"(limit="header_blocks")"}, kMore));
  EXPECT_EQ(CallStatus(wire), "0");
}

HeaderList ManyFields(int count) {
  HeaderList fields;
  for (int i = 0; i < count; ++i) fields.emplace_back("x-" + std::to_string(i), "v");
  return fields;
}

TEST(OversizedMetadata, OfManyFieldsCountsWithoutWhatIsNotTheApplications) {
  Wire wire(ForEach(AnswerWell));
  EXPECT_EQ(wire.client.AnswerTo(wire.client.Call(ManyFields(1000))).grpc_status(), "0");
  const RawAnswer answer = wire.client.AnswerTo(wire.client.Call(ManyFields(1001)));
  EXPECT_EQ(answer.grpc_status(), "8") << answer.grpc_message();
  EXPECT_EQ(Hits(wire.sidecar, "metadata_fields"), 1);
  EXPECT_EQ(Hits(wire.sidecar, "metadata_bytes"), 0);
}

TEST(OversizedMetadata, OfAnUpstreamsTrailersIsCountedToo) {
  Wire wire(ForEach([](UpstreamPeer& peer, const RawRequest& request) {
    HeaderList trailers = ManyFields(1001);
    trailers.emplace_back("grpc-status", "0");
    peer.AnswerHead(request.stream);
    peer.WriteHeaders(request.stream, trailers, true);
  }));
  EXPECT_EQ(wire.client.AnswerTo(wire.client.Call()).grpc_status(), "13");
  EXPECT_EQ(Hits(wire.sidecar, "metadata_fields"), 1);
}

TEST(OversizedMetadata, C10_OfACallerEndsItsCallAlone) {
  Wire wire(ForEach(AnswerWell));
  const int32_t other = wire.client.Open(RawClient::CallHead(), false);
  for (const size_t bytes : {150'000, 250'000}) {
    const RawAnswer answer =
        wire.client.AnswerTo(wire.client.Call({{"x-large", std::string(bytes, 'x')}}));
    EXPECT_EQ(answer.grpc_status(), "8") << answer.grpc_message();
    EXPECT_TRUE(answer.head_ended);
  }
  EXPECT_EQ(Hits(wire.sidecar, "metadata_bytes"), 2);
  wire.client.WriteData(other, GrpcMessage("hello"), true);
  EXPECT_EQ(wire.client.AnswerTo(other).grpc_status(), "0");
  EXPECT_EQ(CallStatus(wire), "0");
}

TEST(OversizedMetadata, C10_TooManyFieldsOfACallerEndItsCallAlone) {
  Wire wire(ForEach(AnswerWell));
  const RawAnswer answer = wire.client.AnswerTo(wire.client.Call(HeaderList(2000, {"x", "y"})));
  EXPECT_EQ(answer.grpc_status(), "8") << answer.grpc_message();
  EXPECT_EQ(CallStatus(wire), "0");
}

TEST(OversizedMetadata, C10_OfAnUpstreamIsInternalAndNotRetried) {
  std::atomic<int> calls = 0;
  RawUpstream upstream(ForEach([&calls](UpstreamPeer& peer, const RawRequest& request) {
    ++calls;
    if (Values(request.head, "x-large").empty()) return peer.Answer(request.stream);
    peer.WriteHeaders(request.stream,
                      {{":status", "200"},
                       {"content-type", "application/grpc"},
                       {"x-large", std::string(150'000, 'x')}},
                      false);
  }));
  SidecarProcess sidecar({.endpoints = {upstream.address()}, .retry = Patient()});
  RawClient client(sidecar.address());
  EXPECT_EQ(client.AnswerTo(client.Call()).grpc_status(), "0");
  const RawAnswer answer = client.AnswerTo(client.Call({{"x-large", "1"}}));
  EXPECT_EQ(answer.grpc_status(), "13") << answer.grpc_message();
  EXPECT_EQ(client.AnswerTo(client.Call()).grpc_status(), "0");
  EXPECT_EQ(upstream.connections(), 1);
  EXPECT_EQ(calls, 3);
}

}  // namespace
}  // namespace levee
