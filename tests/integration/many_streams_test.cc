// SPDX-License-Identifier: Apache-2.0
// More calls at once on one channel than a connection carries, or than it carried once.
#include <future>
#include <map>
#include <string>

#include "gmock/gmock.h"
#include "integration/attacker.h"
#include "integration/byte_call.h"
#include "integration/eventually.h"
#include "integration/faulty_service.h"
#include "integration/sidecar_process.h"

namespace levee {
namespace {

using grpc::StatusCode;
using testing::HasSubstr;

// Calls on one channel that last until the service is told to end them.
class LongCalls {
 public:
  LongCalls(FaultyService& service, const ChannelPtr& channel, int count)
      : service_(service), count_(count) {
    const Load load = {.calls = count, .at_once = count, .method = "/test.Echo/Sink"};
    ended_ = std::async(std::launch::async, [channel, load] { return RunLoad({channel}, load); });
  }

  // Whether so many have reached the service.
  bool Await(int count) const {
    return service_.WaitFor([&] { return service_.calls() >= count; });
  }

  // Ends them, and returns whether all were OK.
  bool End() {
    service_.Release();
    return ended_.get() == std::map<StatusCode, int>{{StatusCode::OK, count_}};
  }

 private:
  FaultyService& service_;
  const int count_;
  std::future<std::map<StatusCode, int>> ended_;
};

TEST(ManyStreams, E9_ThirteenHundredOnOneChannelLeaveRoomForUnaryCalls) {
  FaultyService service;
  SidecarProcess sidecar({.endpoints = {service.address()}});
  const ChannelPtr channel = NewChannel(sidecar.address());
  LongCalls calls(service, channel, 1300);
  ASSERT_TRUE(calls.Await(1300));
  EXPECT_EQ(CallUnary(channel, "beside them").body, "beside them");
  EXPECT_TRUE(calls.End());
  EXPECT_EQ(Hits(sidecar, "streams_per_connection"), 0);
}

TEST(ManyStreams, E9_BeyondAnUpstreamsOwnLimitTakeFurtherConnectionsToIt) {
  FaultyService service([](const SeenCall&) { return Answer(); }, {.max_streams = 100});
  SidecarProcess sidecar({.endpoints = {service.address()}});
  const ChannelPtr channel = NewChannel(sidecar.address());
  LongCalls calls(service, channel, 250);
  ASSERT_TRUE(calls.Await(250));
  EXPECT_EQ(CallUnary(channel).body, "hello");
  EXPECT_GE(sidecar.Sum("levee_upstream_connections"), 3);
  EXPECT_TRUE(calls.End());
}

TEST(ManyStreams, E9_ACallerAtItsLimitIsToldOfByMetricLogAndDoctor) {
  FaultyService service;
  SidecarProcess sidecar({.endpoints = {service.address()},
                          .admin = "{address: \"127.0.0.1:0\"}",
                          .more = "limits: {streams_per_connection: 4}\n"});
  LongCalls calls(service, NewChannel(sidecar.address()), 6);
  ASSERT_TRUE(calls.Await(4));
  EXPECT_EQ(Hits(sidecar, "streams_per_connection"), 1);
  EXPECT_TRUE(Eventually([&] {
    return sidecar.process().Errors().find("limit=streams_per_connection ") != std::string::npos;
  }));
  const Ended doctor =
      RunToEnd(LEVEE_BINARY, {"doctor", "--address", sidecar.AwaitAddress("admin")});
  EXPECT_THAT(doctor.output, HasSubstr("a limit was reached: streams_per_connection"));
  EXPECT_EQ(service.calls(), 4);
  EXPECT_TRUE(calls.End());
}

}  // namespace
}  // namespace levee
