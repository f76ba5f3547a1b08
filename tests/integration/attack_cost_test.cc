// SPDX-License-Identifier: Apache-2.0
// How many bytes the sidecar holds for each byte of the small things that a caller may send. The
// table in docs/limits.md has what this prints.
#include <cstdio>
#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "integration/attacker.h"
#include "integration/faulty_service.h"
#include "integration/raw_client.h"
#include "integration/raw_upstream.h"
#include "integration/scripted.h"
#include "integration/tcp.h"

namespace levee {
namespace {

constexpr int kHeldConnections = 50;
constexpr double kMost = 400;  // bytes held for one of any kind

HeaderList HeadFields() {
  return {{":authority", "shop"},
          {":path", "/shop.Service/Unary"},
          {"te", "trailers"},
          {"content-type", "application/grpc"}};
}

// A head that is written out; `indexed`: and that goes into HPACK's table.
std::string HeadOf(int call, bool end, bool indexed) {
  std::string block = "\x83\x86";  // POST, http
  for (const auto& field : HeadFields()) {
    std::string literal = Encode({field});
    if (indexed) literal[0] = '\x40';
    block += literal;
  }
  return EncodeFrame(FrameType::kHeaders, end ? kEndHeaders | kEndStream : kEndHeaders,
                     StreamOf(call), block);
}

// The same of entries of the table, the last of which came first.
std::string HeadAgain(int call, bool end) {
  return EncodeFrame(FrameType::kHeaders, end ? kEndHeaders | kEndStream : kEndHeaders,
                     StreamOf(call), "\x83\x86\xc1\xc0\xbf\xbe");
}

struct CostKind {
  const char* name;
  int times;  // on each connection
  std::function<std::string(int)> frames;
  int stay = 0;  // calls of each connection that go on
};

std::vector<CostKind> Kinds() {
  const auto frame = [](FrameType type, int32_t stream, const std::string& payload) {
    return [=](int) { return EncodeFrame(type, 0, stream, payload); };
  };
  return {{"heads, indexed", 1000, [](int i) { return HeadAgain(i + 1, true); }, 1000},
          {"heads, written out", 1000, [](int i) { return HeadOf(i + 1, true, false); }, 1000},
          {"heads and a reset of each", 4000,
           [](int i) { return HeadAgain(i + 1, false) + ResetCall(i + 1); }},
          {"heads and trailers", 1000,
           [](int i) {
             return HeadAgain(i + 1, false) + EncodeFrame(FrameType::kHeaders,
                                                          kEndHeaders | kEndStream, StreamOf(i + 1),
                                                          Encode({{"a", "b"}}));
           },
           1000},
          {"heads that are refused", 1000,
           [](int i) {
             return EncodeFrame(FrameType::kHeaders, kEndHeaders | kEndStream, StreamOf(i + 1),
                                "\x82\x86\xc1\xc0\xbf\xbe");  // GET
           }},
          {"empty DATA", 9000, frame(FrameType::kData, 1, "")},
          {"DATA of one byte", 9000, frame(FrameType::kData, 1, "x")},
          {"PING", 900, frame(FrameType::kPing, 0, "12345678")},
          {"SETTINGS", 90, frame(FrameType::kSettings, 0, "")},
          {"WINDOW_UPDATE", 9000, frame(FrameType::kWindowUpdate, 0, Number(1))}};
}

std::ostream& operator<<(std::ostream& out, const CostKind& kind) { return out << kind.name; }

class CostOfSoak : public testing::TestWithParam<CostKind> {};

TEST_P(CostOfSoak, ASmallThingIsBounded) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "the sanitizer's own memory is many times more";
#endif
  const RawUpstream stuck(TakeNoBodies);
  const SidecarProcess sidecar(
      {.endpoints = {stuck.address()}, .retry = kNoRetry, .more = "limits: {memory: 4GiB}\n"});
  std::vector<std::unique_ptr<Attacker>> attackers;
  // The first head fills the table, and is the call of what needs one.
  for (int i = 0; i < kHeldConnections; ++i) {
    attackers.push_back(std::make_unique<Attacker>(sidecar.address(), Attacker::Reading::kNothing));
    attackers.back()->Send(HeadOf(0, false, true));
  }
  ASSERT_TRUE(sidecar.WaitForSum("levee_active_calls", {}, kHeldConnections));
  const long before = sidecar.process().ResidentBytes();
  std::string frames;
  for (int i = 0; i < GetParam().times; ++i) frames += GetParam().frames(i);
  // The sidecar has read all when it has one more call. It reads one attacker after the other: all
  // at once would be more attempts than may wait for a connection.
  const std::string end = HeadAgain(10'000, true);
  double calls = kHeldConnections;
  for (const auto& attacker : attackers) {
    attacker->Send(frames + end);
    calls += GetParam().stay + 1;
    ASSERT_TRUE(sidecar.WaitForSum("levee_active_calls", {}, calls));
  }
  const long most = sidecar.process().ResidentBytes();
  const auto sent = static_cast<double>(frames.size()) * kHeldConnections;
  const double per_byte = static_cast<double>(most - before) / sent;
  std::printf("| %s | %.1f | %.1f | %.0f |\n", GetParam().name,
              static_cast<double>(frames.size()) / GetParam().times, per_byte,
              static_cast<double>(most - before) / (GetParam().times * kHeldConnections));
  EXPECT_LT(per_byte, kMost);
}

// An upstream answers with many interim heads, of which nothing is kept.
TEST(CostOfAnswersSoak, AnInterimAnswerIsNotKept) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "the sanitizer's own memory is many times more";
#endif
  constexpr int kTimes = 100'000;
  const HeaderList interim = {{":status", "103"}, {"a", "b"}};
  Wire wire(ForEach([&](UpstreamPeer& peer, const RawRequest& request) {
    if (Values(request.head, "many") == "1") {
      for (int i = 0; i < kTimes; ++i) peer.WriteHeaders(request.stream, interim, false);
    }
    peer.Answer(request.stream);
  }));
  EXPECT_EQ(wire.client.AnswerTo(wire.client.Call()).grpc_status(), "0");
  const long before = wire.sidecar.process().ResidentBytes();
  EXPECT_EQ(wire.client.AnswerTo(wire.client.Call({{"many", "1"}})).grpc_status(), "0");
  const auto held = static_cast<double>(wire.sidecar.process().ResidentBytes() - before);
  const auto size = static_cast<double>(9 + Encode(interim).size());
  std::printf("| 1xx answers | %.1f | %.1f | %.0f |\n", size, held / size / kTimes, held / kTimes);
  EXPECT_LT(held / size / kTimes, 1);
}

TEST(CostOfTunnelsSoak, ATunnelIsBounded) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "the sanitizer's own memory is many times more";
#endif
  constexpr int kTunnels = 200;
  const RawUpstream upstream([](UpstreamPeer& peer) { peer.ReadToEnd(); });
  const SidecarProcess sidecar({.endpoints = {upstream.address()}});
  std::vector<std::unique_ptr<TcpConnection>> tunnels;
  long before = 0;
  for (int i = 0; i < 2 * kTunnels; ++i) {
    if (i == kTunnels) before = sidecar.process().ResidentBytes();
    tunnels.push_back(std::make_unique<TcpConnection>(sidecar.address()));
    ASSERT_TRUE(OpenTunnel(*tunnels.back(), upstream.address()));
    tunnels.back()->Send("no HTTP/2 is this, but something else");
  }
  ASSERT_TRUE(sidecar.WaitForSum("levee_tunnels", {}, 2 * kTunnels));
  const long each = (sidecar.process().ResidentBytes() - before) / kTunnels;
  std::printf("| CONNECT tunnels | about 110 | %.0f | %ld |\n", static_cast<double>(each) / 110,
              each);
  EXPECT_LT(each, 64 * 1024);
}

INSTANTIATE_TEST_SUITE_P(All, CostOfSoak, testing::ValuesIn(Kinds()),
                         [](const auto& kind) { return std::to_string(kind.index); });

}  // namespace
}  // namespace levee
