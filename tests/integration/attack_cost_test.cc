// SPDX-License-Identifier: Apache-2.0
// How many bytes the sidecar holds for each byte of the small things that a caller may send. The
// table in docs/limits.md has what this prints.
#include <algorithm>
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

namespace levee {
namespace {

constexpr int kConnections = 50;
constexpr double kMost = 400;  // bytes held for one of any kind

HeaderList Fields() {
  return {{":authority", "shop"},
          {":path", "/shop.Service/Unary"},
          {"te", "trailers"},
          {"content-type", "application/grpc"}};
}

// A head that is written out; `indexed`: and that goes into HPACK's table.
std::string Head(int call, bool end, bool indexed) {
  std::string block = "\x83\x86";  // POST, http
  for (const auto& field : Fields()) {
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

struct Kind {
  const char* name;
  int times;  // on each connection
  std::function<std::string(int)> frames;
  Attacker::Reading reading = Attacker::Reading::kNothing;
};

std::vector<Kind> Kinds() {
  const auto frame = [](FrameType type, int32_t stream, const std::string& payload) {
    return [=](int) { return EncodeFrame(type, 0, stream, payload); };
  };
  return {{"heads, indexed", 1000, [](int i) { return HeadAgain(i + 1, true); }},
          {"heads, written out", 1000, [](int i) { return Head(i + 1, true, false); }},
          {"heads and a reset of each", 4000,
           [](int i) { return HeadAgain(i + 1, false) + ResetCall(i + 1); }},
          {"heads and trailers", 1000,
           [](int i) {
             return HeadAgain(i + 1, false) + EncodeFrame(FrameType::kHeaders,
                                                          kEndHeaders | kEndStream, StreamOf(i + 1),
                                                          Encode({{"a", "b"}}));
           }},
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

class CostOf : public testing::TestWithParam<Kind> {};

TEST_P(CostOf, ASmallThingIsBounded) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "the sanitizer's own memory is many times more";
#endif
  const RawUpstream stuck(TakeNoBodies);
  const SidecarProcess sidecar(
      {.endpoints = {stuck.address()}, .retry = kNoRetry, .more = "limits: {memory: 4GiB}\n"});
  std::vector<std::unique_ptr<Attacker>> attackers;
  // The first head fills the table, and is the call of what needs one.
  for (int i = 0; i < kConnections; ++i) {
    attackers.push_back(std::make_unique<Attacker>(sidecar.address(), GetParam().reading));
    attackers.back()->Send(Head(0, false, true));
  }
  ASSERT_TRUE(sidecar.WaitForSum("levee_active_calls", {}, kConnections));
  const long before = sidecar.process().ResidentBytes();
  std::string frames;
  for (int i = 0; i < GetParam().times; ++i) frames += GetParam().frames(i);
  for (const auto& attacker : attackers) attacker->Send(frames);
  // The sidecar has read all when it has opened a later connection's call, in the same order.
  Attacker last(sidecar.address());
  const double calls = sidecar.Sum("levee_downstream_connections");
  EXPECT_GE(calls, 1);
  long now = 0, most = 0;
  for (int i = 0; i < 50; ++i) {
    now = sidecar.process().ResidentBytes();
    most = std::max(most, now);
    sidecar.Scrape();
  }
  const auto sent = static_cast<double>(frames.size()) * kConnections;
  const double per_byte = static_cast<double>(most - before) / sent;
  std::printf("| %s | %.1f | %.1f | %.0f |\n", GetParam().name,
              static_cast<double>(frames.size()) / GetParam().times, per_byte,
              static_cast<double>(most - before) / (GetParam().times * kConnections));
  EXPECT_LT(per_byte, kMost);
}

INSTANTIATE_TEST_SUITE_P(All, CostOf, testing::ValuesIn(Kinds()),
                         [](const auto& kind) { return std::to_string(kind.index); });

}  // namespace
}  // namespace levee
