// SPDX-License-Identifier: Apache-2.0
// All attacks at once, in the memory of a small container.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "gtest/gtest.h"
#include "integration/attacker.h"
#include "integration/faulty_service.h"
#include "integration/mebibyte.h"
#include "integration/memory_cgroup.h"
#include "integration/raw_client.h"
#include "integration/raw_upstream.h"
#include "integration/scripted.h"
#include "integration/tcp.h"

namespace levee {
namespace {

constexpr long kContainer = 128 * kMiB;

// How long the attacks last: LEVEE_ATTACK_SECONDS, or 8 s.
std::chrono::seconds Duration() {
  const char* const text = std::getenv("LEVEE_ATTACK_SECONDS");
  return std::chrono::seconds(text == nullptr ? 8 : std::max(1, std::atoi(text)));
}

std::string HeadTo(int call, const std::string& path, bool end) {
  HeaderList head = RawClient::CallHead();
  head[2].second = path;
  return EncodeFrame(FrameType::kHeaders, end ? kEndHeaders | kEndStream : kEndHeaders,
                     StreamOf(call), Encode(head));
}

// What one attacker does again and again: each time on connections of its own.
using Attack = std::function<void(const std::string& address)>;

void UploadToStuck(const std::string& address) {
  Attacker attacker(address);
  std::string body;
  for (int call = 0; call < 500 && !attacker.ended(); ++call) {
    body = HeadTo(call, "/stuck.Service/Upload", false);
    for (int i = 0; i < 16; ++i) {
      body += EncodeFrame(FrameType::kData, 0, StreamOf(call), std::string(16'000, 'u'));
    }
    if (!attacker.Send(body)) return;
  }
}

void ReadNoAnswer(const std::string& address) {
  Attacker deaf(address, Attacker::Reading::kNothing, Setting(SettingId::kInitialWindowSize, 0));
  deaf.Flood(500, [](int call) {
    return HeadTo(call, "/test.Echo/Stream", false) +
           EncodeFrame(FrameType::kData, kEndStream, StreamOf(call), GrpcMessage("1000 100000"));
  });
}

void CallLongPaths(const std::string& address) {
  Attacker(address).Flood(2000, [](int call) {
    return HeadTo(call, "/shop.Service/" + std::string(15'000, 'p') + std::to_string(call), true);
  });
}

void ResetCalls(const std::string& address) {
  Attacker(address).Flood(50'000, [](int call) { return OpenCall(call) + ResetCall(call); });
}

void Ping(const std::string& address) {
  Attacker(address, Attacker::Reading::kNothing).Flood(1000, [](int) {
    std::string pings;
    for (int i = 0; i < 100; ++i) pings += EncodeFrame(FrameType::kPing, 0, 0, "12345678");
    return pings;
  });
}

void SendByteByByte(const std::string& address) {
  Attacker attacker(address);
  attacker.Send(HeadTo(0, "/test.Echo/Upload", false));
  const std::string byte = EncodeFrame(FrameType::kData, 0, StreamOf(0), "x");
  std::string bytes;
  for (int i = 0; i < 1000; ++i) bytes += byte;
  attacker.Flood(200, [&](int) { return bytes; });
}

void BeginHeaderBlocks(const std::string& address) {
  std::vector<std::unique_ptr<Attacker>> attackers;
  for (int i = 0; i < 200; ++i) {
    attackers.push_back(std::make_unique<Attacker>(address));
    attackers.back()->Send(
        EncodeFrame(FrameType::kHeaders, 0, 1, std::string(16'000, '\x82')) +
        EncodeFrame(FrameType::kContinuation, 0, 1, std::string(16'000, '\x82')));
  }
}

void StaySilent(const std::string& address) {
  std::vector<std::unique_ptr<TcpConnection>> silent;
  for (int i = 0; i < 200; ++i) silent.push_back(std::make_unique<TcpConnection>(address));
}

class SumOfAttacksSoak : public testing::Test {
 protected:
  SumOfAttacksSoak()
      : stuck_(TakeNoBodies),
        sidecar_({.endpoints = {target_.address()},
                  .retry = kNoRetry,
                  .route = "match: {method: \"/stuck.Service/*\"}, upstream: stuck, policy: test}, "
                           "{match: {method: \"/honest.Service/*\"}, upstream: honest, "
                           "policy: test}, {",
                  .upstream = "}, {name: stuck, endpoints: [\"" + stuck_.address() +
                              "\"]}, {name: honest, endpoints: [\"" + honest_.address() + "\"]",
                  .more = "limits: {memory: 96MiB}\n"}) {
    cgroup_.Take(sidecar_.process().pid());
  }

  // Runs `attacks`, each again and again in a thread of its own, as long as `meanwhile` runs.
  void Under(const std::vector<Attack>& attacks, const std::function<void()>& meanwhile) {
    std::atomic<bool> over = false;
    std::vector<std::thread> threads;
    for (const Attack& attack : attacks) {
      threads.emplace_back([&] {
        while (!over) attack(sidecar_.address());
      });
    }
    meanwhile();
    over = true;
    for (std::thread& thread : threads) thread.join();
  }

  FaultyService honest_, target_;
  RawUpstream stuck_;  // reads nothing
  const MemoryCgroup cgroup_{kContainer};
  SidecarProcess sidecar_;
};

TEST_F(SumOfAttacksSoak, LeavesTheSidecarAliveAndHonestCallsGood) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "the sanitizer's own memory does not fit";
#endif
  const ChannelPtr channel = NewChannel(sidecar_.address());
  int calls = 0, good = 0;
  long most = 0;
  Under({UploadToStuck, ReadNoAnswer, CallLongPaths, ResetCalls, Ping, SendByteByByte,
         BeginHeaderBlocks, StaySilent},
        [&] {
          const auto end = std::chrono::steady_clock::now() + Duration();
          while (std::chrono::steady_clock::now() < end) {
            ++calls;
            good += CallUnary(channel, std::string(20'000, 'o'), nullptr, "/honest.Service/Unary")
                        .status.ok();
            most = std::max(most, sidecar_.process().ResidentBytes());
          }
        });
  std::printf("%d of %d honest calls good, at most %ld MiB resident, memory cgroup: %s\n", good,
              calls, most / kMiB, cgroup_.limited() ? "128 MiB" : "none may be made here");
  EXPECT_GE(calls, 10);
  EXPECT_GE(good, calls * 95 / 100);
  EXPECT_LT(most, kContainer);
  EXPECT_EQ(sidecar_.HttpStatus("/healthz"), 200);
}

}  // namespace
}  // namespace levee
