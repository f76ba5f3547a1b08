// SPDX-License-Identifier: Apache-2.0
// The door of the application (W11): callers see an instance behind Levee as they would without it.
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "integration/byte_call.h"
#include "integration/eventually.h"
#include "integration/faulty_service.h"
#include "integration/frames.h"
#include "integration/guarded.h"
#include "integration/raw_client.h"
#include "integration/sidecar_process.h"
#include "integration/tcp.h"

namespace levee {
namespace {

// An application that comes and goes at one port.
class Application {
 public:
  explicit Application(int port = 0) { Start(port); }
  void Start(int port = 0) {
    service_ = std::make_unique<FaultyService>([](const SeenCall&) { return Answer(); },
                                               FaultyService::Options{.port = port});
    port_ = service_->port();
  }
  void Stop() { service_.reset(); }
  void StartAgain() { Start(port_); }

  FaultyService& service() { return *service_; }
  std::string address() const { return absl::StrCat("127.0.0.1:", port_); }

 private:
  int port_ = 0;
  std::unique_ptr<FaultyService> service_;
};

TEST(Door, W11_IsOpenOnlyWhileTheApplicationsIs) {
  Application application;
  const GuardedServices guards({application.address()}, "");
  const std::string ingress = guards.address(0);
  RawClient caller(ingress);
  EXPECT_EQ(caller.AnswerTo(caller.Call()).grpc_status(), "0");
  application.Stop();
  EXPECT_TRUE(IsToldToGo(caller));
  EXPECT_TRUE(Eventually([&] { return !IsListening(ingress); }));
  EXPECT_EQ(guards.sidecar->HttpStatus("/readyz"), 200);
  application.StartAgain();
  EXPECT_TRUE(Eventually([&] { return IsListening(ingress); }));
  EXPECT_TRUE(CallUnary(NewChannel(ingress)).status.ok());
}

TEST(Door, W11_IsClosedUntilTheApplicationIsThereForTheFirstTime) {
  Application application;
  application.Stop();
  const GuardedServices guards({application.address()}, "");
  EXPECT_TRUE(Eventually([&] { return !IsListening(guards.address(0)); }));
  EXPECT_EQ(guards.sidecar->HttpStatus("/readyz"), 200);
  application.StartAgain();
  EXPECT_TRUE(Eventually([&] { return IsListening(guards.address(0)); }));
}

TEST(Door, APortThatAnotherProcessHasTakenMeanwhileIsTold) {
  Application application;
  const GuardedServices guards({application.address()}, "");
  const std::string ingress = guards.address(0);
  application.Stop();
  ASSERT_TRUE(Eventually([&] { return !IsListening(ingress); }));
  const Application other(std::stoi(ingress.substr(ingress.rfind(':') + 1)));
  application.StartAgain();
  EXPECT_TRUE(Eventually(
      [&] { return guards.sidecar->process().Errors().find("port_lost") != std::string::npos; }));
}

TEST(Door, W11_ACallThatWaitsForASlotIsSentElsewhere) {
  Application application;
  const GuardedServices guards({application.address()}, "concurrency: {limit: 1}");
  RawClient caller(guards.address(0));
  caller.Call({{"x-nothing", "to see"}});
  ByteCall first(guards.channel, "/test.Echo/Sleep");
  ASSERT_TRUE(first.Start() && first.Write("x"));
  ASSERT_TRUE(application.service().WaitFor([&] { return application.service().calls() == 2; }));
  const int32_t second = caller.Call();
  EXPECT_TRUE(guards.sidecar->WaitForSum("levee_guard_queue_length", {}, 1));
  application.Stop();
  const RawAnswer answer = caller.AnswerTo(second);
  EXPECT_EQ(answer.reset, 7u);  // REFUSED_STREAM
  EXPECT_EQ(answer.grpc_status(), "");
  EXPECT_FALSE(first.Finish().ok());
}

TEST(Door, W11_CallersThatBalanceLoseAtMostOneCallWhereOneOfTwoApplicationsHasGone) {
  Application one, other;
  const GuardedServices guards({one.address(), other.address()}, "");
  // With gRPC's own retries, which are on by default: without them the library sends no call again.
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  arguments.SetInt(GRPC_ARG_ENABLE_RETRIES, 1);
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  arguments.SetLoadBalancingPolicyName("round_robin");
  const ChannelPtr channel =
      grpc::CreateCustomChannel(absl::StrCat("ipv4:", guards.address(0), ",", guards.address(1)),
                                grpc::InsecureChannelCredentials(), arguments);
  for (int i = 0; i < 20; ++i) EXPECT_TRUE(CallUnary(channel).status.ok());
  EXPECT_TRUE(Eventually([&] {
    EXPECT_TRUE(CallUnary(channel).status.ok());
    return one.service().calls() > 0 && other.service().calls() > 0;
  }));
  one.Stop();
  // The library sends a call again that has not been taken, but not for a third time: the second
  // try may leave before it has read that its connection ends.
  int lost = 0;
  for (int i = 0; i < 200; ++i) lost += !CallUnary(channel).status.ok();
  EXPECT_LE(lost, 1);
}

}  // namespace
}  // namespace levee
