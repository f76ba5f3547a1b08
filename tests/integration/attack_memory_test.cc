// SPDX-License-Identifier: Apache-2.0
// Callers that make the sidecar hold as much as they can, beside an honest one: `limits.memory`.
#include <sys/resource.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "h2_frames/field_coder.h"
#include "integration/attacker.h"
#include "integration/byte_call.h"
#include "integration/eventually.h"
#include "integration/faulty_service.h"
#include "integration/mebibyte.h"
#include "integration/memory_cgroup.h"
#include "integration/raw_upstream.h"
#include "integration/scripted.h"

namespace levee {
namespace {

constexpr long kLimit = 48 * kMiB;

// A call with `size` bytes of a body that goes on.
std::string UploadFrames(int call, const std::string& path, size_t size) {
  HeaderList head = RawClient::CallHead();
  head[2].second = path;
  std::string frames = EncodeFrame(FrameType::kHeaders, kEndHeaders, StreamOf(call), Encode(head));
  for (size_t sent = 0; sent < size; sent += 16'384) {
    frames += EncodeFrame(FrameType::kData, 0, StreamOf(call), std::string(16'384, 'u'));
  }
  return frames;
}

// An honest caller of "shop", and an upstream "stuck" that reads nothing, for the methods of
// /stuck.Service.
class AttackOnMemory : public testing::Test {
 protected:
  AttackOnMemory() : stuck_(TakeNoBodies) {}

  ConfigParts Config(const std::string& limits) const {
    return {.endpoints = {shop_.address()},
            .retry = kNoRetry,
            .route =
                "match: {method: \"/stuck.Service/*\"}, upstream: stuck, policy: test}, "
                "{match: {method: \"/named.Service/*\"}, upstream: named, policy: test}, {",
            .upstream = "}, {name: stuck, endpoints: [\"" + stuck_.address() +
                        "\"]}, {name: named, endpoints: [\"authority:\"]",
            .more = "limits: {" + limits + "}\n"};
  }

  void Begin(std::unique_ptr<SidecarProcess> sidecar) {
    sidecar_ = std::move(sidecar);
    channel_ = NewChannel(sidecar_->address());
    CallAsOthersDo(20);
    resident_ = sidecar_->process().ResidentBytes();
  }

  // The honest caller's calls are good: one may come while memory is being freed, and not each.
  void CallAsOthersDo(int calls) {
    for (int i = 0; i < calls; ++i) {
      EXPECT_TRUE(
          Eventually([&] { return CallUnary(channel_, std::string(20'000, 'o')).status.ok(); }));
    }
  }

  // 125 MiB in what streams may hold by their windows.
  void UploadToTheStuckOne() {
    Attacker attacker(sidecar_->address());
    for (int call = 0; call < 500; ++call) {
      ASSERT_TRUE(attacker.Send(UploadFrames(call, "/stuck.Service/Upload", 256 * 1024)));
      if (call % 10 == 0) CallAsOthersDo(1);
    }
    CallAsOthersDo(100);
  }

  void ReadNoAnswer() {
    Attacker deaf(sidecar_->address(), Attacker::Reading::kNothing,
                  Setting(SettingId::kInitialWindowSize, 0));
    for (int call = 0; call < 800; ++call) {
      HeaderList head = RawClient::CallHead();
      head[2].second = "/test.Echo/Stream";
      deaf.Send(
          EncodeFrame(FrameType::kHeaders, kEndHeaders, StreamOf(call), Encode(head)) +
          EncodeFrame(FrameType::kData, kEndStream, StreamOf(call), GrpcMessage("1000 100000")));
      if (call % 10 == 0) CallAsOthersDo(1);
    }
    CallAsOthersDo(100);
  }

  void CallLongPaths() {
    Attacker attacker(sidecar_->address());
    for (int call = 0; call < 8000; ++call) {
      HeaderList head = RawClient::CallHead();
      head[2].second = "/shop.Service/" + std::string(15'000, 'p') + std::to_string(call);
      ASSERT_TRUE(attacker.Send(EncodeFrame(FrameType::kHeaders, kEndHeaders | kEndStream,
                                            StreamOf(call), Encode(head))));
      if (call % 100 == 0) CallAsOthersDo(1);
    }
    CallAsOthersDo(100);
  }

  // Each call is one of another authority, under which nothing can be reached.
  void NameManyPlaces(int calls, size_t size) {
    Attacker attacker(sidecar_->address());
    for (int call = 0; call < calls; ++call) {
      const std::string end = "." + std::to_string(call) + ".localhost:1";
      HeaderList head = RawClient::CallHead();
      head[2].second = "/named.Service/Call";
      for (auto& [name, value] : head) {
        if (name == ":authority") value = std::string(size - end.size(), 'a') + end;
      }
      ASSERT_TRUE(attacker.Send(EncodeFrame(FrameType::kHeaders, kEndHeaders | kEndStream,
                                            StreamOf(call), Encode(head))));
      if (call % 100 == 0) CallAsOthersDo(1);
    }
    CallAsOthersDo(100);
  }

  FaultyService shop_;
  RawUpstream stuck_;
  std::unique_ptr<SidecarProcess> sidecar_;
  ChannelPtr channel_;
  long resident_ = 0;
};

class ScarceMemory : public AttackOnMemory {
 protected:
  ScarceMemory() {
    Begin(std::make_unique<SidecarProcess>(Config("memory: 48MiB, send_timeout: none")));
  }

  void ExpectWithinLimit() {
    EXPECT_LT(sidecar_->process().ResidentBytes() - resident_, kLimit + kSanitizerMayKeep);
    EXPECT_LE(sidecar_->Sum("levee_memory_bytes"), kLimit);
    EXPECT_EQ(sidecar_->Sum("levee_memory_limit_bytes"), kLimit);
    EXPECT_GT(Hits(*sidecar_, "memory"), 0);
  }
};

TEST_F(ScarceMemory, H3_UploadsToAnUpstreamThatReadsNothingEndWhereTheyHoldTooMuch) {
  UploadToTheStuckOne();
  ExpectWithinLimit();
}

TEST_F(ScarceMemory, H18_AnswersThatNobodyReadsEndWhereTheyHoldTooMuch) {
  ReadNoAnswer();
  ExpectWithinLimit();
}

TEST_F(ScarceMemory, H4_LongPathsFillNoTable) {
  CallLongPaths();
  ASSERT_TRUE(sidecar_->WaitForSum("levee_active_calls", {}, 0));
  EXPECT_LT(sidecar_->process().ResidentBytes() - resident_, 32 * kMiB + kSanitizerMayKeep);
  EXPECT_EQ(Hits(*sidecar_, "memory"), 0);
  EXPECT_GT(Hits(*sidecar_, "routes_cached"), 0);
}

TEST_F(ScarceMemory, NamesOfManyPlacesFillNoTable) {
  NameManyPlaces(1500, 15'000);
  ASSERT_TRUE(
      sidecar_->WaitForSum("levee_downstream_rejects_total", {"reason=\"no_route\""}, 1500));
  EXPECT_EQ(Hits(*sidecar_, "destinations"), 0);
  NameManyPlaces(4000, 250);
  ASSERT_TRUE(sidecar_->WaitForSum("levee_active_calls", {}, 0));
  // What the calls took is given back some looks at the memory later.
  EXPECT_TRUE(Eventually([&] {
    return sidecar_->process().ResidentBytes() - resident_ < 24 * kMiB + kSanitizerMayKeep;
  })) << sidecar_->process().ResidentBytes() - resident_;
  EXPECT_EQ(Hits(*sidecar_, "memory"), 0);
  EXPECT_GT(Hits(*sidecar_, "destinations"), 0);
}

// Raises how many descriptors the test may have.
class ManyDescriptors {
 public:
  ManyDescriptors() {
    getrlimit(RLIMIT_NOFILE, &before_);
    const rlimit many = {.rlim_cur = before_.rlim_max, .rlim_max = before_.rlim_max};
    setrlimit(RLIMIT_NOFILE, &many);
  }
  ~ManyDescriptors() { setrlimit(RLIMIT_NOFILE, &before_); }
  bool allow(rlim_t count) const { return before_.rlim_max >= count; }

 private:
  rlimit before_{};
};

class HeldConnections : public AttackOnMemory {
 protected:
  void SetUp() override {
    if (!descriptors_.allow(6000)) GTEST_SKIP() << "few descriptors may be had here";
    Begin(std::make_unique<SidecarProcess>(Config("memory: 32MiB")));
  }

  // Others can still connect, and their calls are good.
  void ConnectAsOthersDo(int callers) {
    for (int i = 0; i < callers; ++i) {
      EXPECT_TRUE(
          Eventually([&] { return CallUnary(NewChannel(sidecar_->address()), "o").status.ok(); }));
    }
  }

 private:
  const ManyDescriptors descriptors_;
};

TEST_F(HeldConnections, ThoseThatCarryNothingMakeRoomForNewCallers) {
  std::vector<std::unique_ptr<Attacker>> attackers;
  for (int i = 0; i < 5000; ++i) {
    attackers.push_back(std::make_unique<Attacker>(sidecar_->address()));
    // Levee keeps these fields as long as the connection lasts.
    const HeaderList head =
        RawClient::CallHead({{"x-one", std::string(1400, 'k')}, {"x-two", std::string(1400, 'k')}});
    attackers.back()->Send(
        EncodeFrame(FrameType::kHeaders, kEndHeaders, StreamOf(0), FieldEncoder().Encode(head)) +
        ResetCall(0));
    if (i % 100 == 0) CallAsOthersDo(1);
  }
  EXPECT_TRUE(sidecar_->WaitForSumAtLeast("levee_limit_hits_total", {"limit=\"memory\""}, 100));
  ConnectAsOthersDo(50);
  CallAsOthersDo(50);
  EXPECT_LE(sidecar_->Sum("levee_memory_bytes"), 32 * kMiB);
}

// Without `limits.memory`: the container says how much there is.
class SmallContainer : public AttackOnMemory {
 protected:
  void SetUp() override {
#ifdef __SANITIZE_ADDRESS__
    GTEST_SKIP() << "the sanitizer's own memory does not fit";
#endif
    if (!cgroup_.limited()) GTEST_SKIP() << "no memory cgroup of version 1 may be made here";
    Begin(SidecarProcess::RunInCgroup(Config("send_timeout: none"), cgroup_.door()));
  }
  void TearDown() override {
    if (sidecar_ == nullptr) return;
    EXPECT_EQ(sidecar_->HttpStatus("/healthz"), 200);
    sidecar_.reset();
  }

  const MemoryCgroup cgroup_{128 * kMiB};
};

TEST_F(SmallContainer, H3_IsNotKilledForUploadsToAnUpstreamThatReadsNothing) {
  UploadToTheStuckOne();
}

TEST_F(SmallContainer, H18_IsNotKilledForAnswersThatNobodyReads) { ReadNoAnswer(); }

TEST_F(SmallContainer, H4_IsNotKilledForLongPaths) { CallLongPaths(); }

}  // namespace
}  // namespace levee
