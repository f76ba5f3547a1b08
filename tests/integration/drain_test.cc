// SIGTERM: nothing that was accepted is lost.
#include <csignal>
#include <string>

#include "gmock/gmock.h"
#include "integration/byte_call.h"
#include "integration/faulty_service.h"
#include "integration/raw_client.h"
#include "integration/sidecar_process.h"

namespace levee {
namespace {

using grpc::StatusCode;

class Drain : public testing::Test {
 protected:
  bool WaitForReadyz(int status) {
    const auto deadline = std::chrono::steady_clock::now() + kPatience;
    while (std::chrono::steady_clock::now() < deadline) {
      if (sidecar_.HttpStatus("/readyz") == status) return true;
    }
    return false;
  }

  FaultyService service_;
  SidecarProcess sidecar_{ConfigParts{.endpoints = {service_.address()}}};
  ChannelPtr channel_ = NewChannel(sidecar_.address());
};

TEST_F(Drain, ACallInFlightIsFinishedAndNewOnesAreStillTaken) {
  EXPECT_EQ(sidecar_.HttpStatus("/healthz"), 200);
  EXPECT_TRUE(WaitForReadyz(200));
  ByteCall call(channel_, "/test.Echo/Chat");
  ASSERT_TRUE(call.Start());
  ASSERT_TRUE(call.Write("before"));
  EXPECT_EQ(call.Read(), "before");

  sidecar_.process().Signal(SIGTERM);
  ASSERT_TRUE(WaitForReadyz(503));
  EXPECT_EQ(sidecar_.HttpStatus("/healthz"), 200);
  EXPECT_TRUE(CallUnary(NewChannel(sidecar_.address())).status.ok());
  ASSERT_TRUE(call.Write("after"));
  EXPECT_EQ(call.Read(), "after");
  ASSERT_TRUE(call.HalfClose());
  EXPECT_TRUE(call.Finish().ok());
  EXPECT_EQ(sidecar_.process().WaitForExit(), 0);
}

TEST_F(Drain, ACallInBackoffOrInFlightEndsAtOnceWithTheSecondSignal) {
  ByteCall call(channel_, "/test.Echo/Chat");
  ASSERT_TRUE(call.Start());
  ASSERT_TRUE(call.Write("before"));
  EXPECT_EQ(call.Read(), "before");
  sidecar_.process().Signal(SIGTERM);
  ASSERT_TRUE(WaitForReadyz(503));
  sidecar_.process().Signal(SIGTERM);
  EXPECT_EQ(call.Finish().error_code(), StatusCode::UNAVAILABLE);
  EXPECT_EQ(sidecar_.process().WaitForExit(), 0);
}

TEST_F(Drain, AnIdleSidecarAnnouncesItsEndInTwoSteps) {
  RawClient client(sidecar_.address());
  EXPECT_EQ(client.AnswerTo(client.Call()).grpc_status(), "0");
  sidecar_.process().Signal(SIGTERM);
  std::vector<uint32_t> last_streams;
  while (const auto frame = client.ReadMeaningful()) {
    if (frame->type == FrameType::kGoaway) last_streams.push_back(ReadNumber(frame->payload));
  }
  EXPECT_THAT(last_streams, testing::ElementsAre(0x7fffffffu, 1u));
  EXPECT_EQ(sidecar_.process().WaitForExit(), 0);
}

TEST(DrainTimeout, EndsWhatIsStillInFlightAsUnavailable) {
  FaultyService service;
  SidecarProcess sidecar({.endpoints = {service.address()}, .more = "drain: {timeout: 300ms}\n"});
  ByteCall call(NewChannel(sidecar.address()), "/test.Echo/Sleep");
  ASSERT_TRUE(call.Start());
  ASSERT_TRUE(service.WaitFor([&] { return service.calls() == 1; }));
  sidecar.process().Signal(SIGTERM);
  EXPECT_EQ(call.Finish().error_code(), StatusCode::UNAVAILABLE);
  EXPECT_EQ(sidecar.process().WaitForExit(), 0);
  EXPECT_TRUE(service.WaitFor([&] { return service.cancelled() == 1; }));
}

TEST(DrainTimeout, WorksWithTwoWorkers) {
  FaultyService service;
  SidecarProcess sidecar({.endpoints = {service.address()}, .more = "drain: {timeout: 300ms}\n"},
                         {"--workers", "2"});
  ByteCall first(NewChannel(sidecar.address()), "/test.Echo/Sleep");
  ByteCall second(NewChannel(sidecar.address()), "/test.Echo/Sleep");
  ASSERT_TRUE(first.Start());
  ASSERT_TRUE(second.Start());
  ASSERT_TRUE(service.WaitFor([&] { return service.calls() == 2; }));
  sidecar.process().Signal(SIGTERM);
  EXPECT_EQ(first.Finish().error_code(), StatusCode::UNAVAILABLE);
  EXPECT_EQ(second.Finish().error_code(), StatusCode::UNAVAILABLE);
  EXPECT_EQ(sidecar.process().WaitForExit(), 0);
}

}  // namespace
}  // namespace levee
