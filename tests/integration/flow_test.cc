// SPDX-License-Identifier: Apache-2.0
// A slow reader stops its own sender, and nobody else.
#include <chrono>
#include <string>

#include "gmock/gmock.h"
#include "integration/byte_call.h"
#include "integration/faulty_service.h"
#include "integration/mebibyte.h"
#include "integration/sidecar_process.h"

namespace levee {
namespace {

// The growth that a sidecar is allowed while 64 MiB wait on both sides of it. AddressSanitizer
// keeps what was freed for a while.
#ifdef __SANITIZE_ADDRESS__
constexpr long kMayGrow = 350 * kMiB;
#else
constexpr long kMayGrow = 40 * kMiB;
#endif

// gRPC's own windows stay as they are, so that it is not the client that reads ahead.
ChannelPtr UnhurriedChannel(const std::string& target) {
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_HTTP2_BDP_PROBE, 0);
  return NewChannel(target, arguments);
}

constexpr int kOthers = 300;

// A call for tens of mebibytes, which small windows let pass only bit by bit.
class LongCall : public ByteCall {
 public:
  LongCall(const ChannelPtr& channel, const std::string& method) : ByteCall(channel, method) {
    context().set_deadline(std::chrono::system_clock::now() + 4 * kPatience);
  }
};

class Flow : public testing::Test {
 protected:
  // Other calls on the same connection; they take long enough for a sender that is not stopped.
  void ExpectOthersGoOn() {
    const auto codes = RunLoad({channel_}, {.calls = kOthers - 1, .at_once = 8});
    EXPECT_EQ(codes.at(grpc::StatusCode::OK), kOthers - 1);
    EXPECT_TRUE(CallUnary(channel_, std::string(kMiB, 'o')).status.ok());
    EXPECT_LT(sidecar_.process().ResidentBytes() - resident_, kMayGrow);
  }

  FaultyService service_;
  SidecarProcess sidecar_{ConfigParts{.endpoints = {service_.address()}}};
  ChannelPtr channel_ = UnhurriedChannel(sidecar_.address());
  long resident_ = sidecar_.process().ResidentBytes();
};

TEST_F(Flow, ACallerThatDoesNotReadStopsItsSenderAlone) {
  LongCall call(channel_, "/test.Echo/Stream");
  ASSERT_TRUE(call.Start());
  ASSERT_TRUE(call.Write("1024 65536"));
  ASSERT_TRUE(call.HalfClose());
  // It may still write while the others go on, until all windows on the way are full.
  int64_t written = 0, before = 0, others = 0;
  do {
    before = written;
    ExpectOthersGoOn();
    others += kOthers;  // They have written one each.
    written = service_.messages_written() - others;
    ASSERT_LT(written, 200) << "of 1024: the sender was not stopped";
  } while (written > before + 2);
  int messages = 0;
  while (call.Read().has_value()) ++messages;
  EXPECT_EQ(messages, 1024);
  EXPECT_TRUE(call.Finish().ok());
}

TEST_F(Flow, AServiceThatDoesNotReadStopsItsCallerAlone) {
  LongCall call(channel_, "/test.Echo/Sink");
  ASSERT_TRUE(call.Start());
  call.BeginWrite(std::string(64 * kMiB, 'u'));
  ExpectOthersGoOn();
  service_.Release();
  ASSERT_TRUE(call.WaitWritten());
  ASSERT_TRUE(call.HalfClose());
  EXPECT_EQ(call.Read(), std::to_string(64 * kMiB));
  EXPECT_TRUE(call.Finish().ok());
  EXPECT_LT(sidecar_.process().ResidentBytes() - resident_, kMayGrow);
}

TEST_F(Flow, ManyLargeCallsAtOnceLeaveNothingBehind) {
  for (int round = 0; round < 3; ++round) {
    std::vector<std::unique_ptr<LongCall>> calls;
    for (int i = 0; i < 20; ++i) {
      calls.push_back(std::make_unique<LongCall>(channel_, "/test.Echo/Stream"));
      ASSERT_TRUE(calls.back()->Start());
      ASSERT_TRUE(calls.back()->Write("100 65536"));
    }
    // Half of them are read, half are given up.
    for (size_t i = 0; i < calls.size(); i += 2) {
      for (int message = 0; message < 100; ++message) ASSERT_TRUE(calls[i]->Read().has_value());
    }
  }
  EXPECT_TRUE(sidecar_.WaitForSum("levee_active_calls", {}, 0));
  EXPECT_EQ(sidecar_.Sum("levee_replay_buffer_bytes"), 0);
  EXPECT_TRUE(CallUnary(channel_).status.ok());
  EXPECT_LT(sidecar_.process().ResidentBytes() - resident_, kMayGrow);
}

}  // namespace
}  // namespace levee
