// SPDX-License-Identifier: Apache-2.0
// Ten instances of a real gRPC service, each behind its guard, and callers with a sidecar of their
// own: row G9 of the guard's contract, through the binary. CallGuardFleet has it on virtual time.
#include <chrono>
#include <future>
#include <iostream>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "integration/byte_call.h"
#include "integration/eventually.h"
#include "integration/faulty_service.h"
#include "integration/guarded.h"
#include "integration/slotted_service.h"

namespace levee {
namespace {

using grpc::StatusCode;
using std::chrono::milliseconds;
using std::chrono::seconds;

// By what is refused instead of by how many calls are good.
TEST(GuardFleet, G9_ACallThatAnInstanceHasNoRoomForSucceedsElsewhere) {
  const FaultyService full, free;
  const GuardedServices guards({full.address(), free.address()},
                               "concurrency: {limit: 1, streams: count}, queue: {max: 0}");
  ByteCall occupant(guards.channel, "/test.Echo/Chat");
  ASSERT_TRUE(occupant.Start() && occupant.Write("x"));
  EXPECT_EQ(occupant.Read(), "x");
  const SidecarProcess caller({.endpoints = {guards.address(0), guards.address(1)},
                               .retry = "{max_attempts: 5, budget: {ratio: 100}}"});
  const ChannelPtr channel = NewChannel(caller.address());
  EXPECT_TRUE(Eventually([&] {
    EXPECT_TRUE(CallUnary(channel).status.ok());
    return caller.Sum("levee_overload_marks_total",
                      {R"(direction="received")", R"(scope="endpoint")"}) >= 1;
  }));
  EXPECT_GE(guards.Refused(), 1);
  EXPECT_TRUE(occupant.HalfClose());
  EXPECT_TRUE(occupant.Finish().ok());
}

// The instances have 2 slots of 50 ms each: 400 calls a second together.
class GuardFleetSoak : public testing::Test {
 protected:
  static constexpr int kInstances = 10;
  static constexpr double kPerSecond = 400;

  GuardFleetSoak() {
    std::vector<std::string> addresses;
    for (int i = 0; i < kInstances; ++i) {
      services_.push_back(std::make_unique<SlottedService>(2, milliseconds(50)));
      addresses.push_back(services_.back()->address());
    }
    guards_ = std::make_unique<GuardedServices>(addresses, "concurrency: {initial: 2}");
    std::vector<std::string> endpoints;
    for (size_t i = 0; i < kInstances; ++i) endpoints.push_back(guards_->address(i));
    caller_ = std::make_unique<SidecarProcess>(ConfigParts{.endpoints = endpoints});
  }

  // `load`: as a share of what the instances can do together.
  static Load Steady(double load, int for_seconds) {
    return {.calls = static_cast<int>(load * kPerSecond * for_seconds),
            .per_second = load * kPerSecond,
            .deadline = seconds(1)};
  }
  std::map<StatusCode, int> Run(const Load& load) const {
    return RunLoad({NewChannel(caller_->address())}, load);
  }
  // Marks that the callers' sidecar has received.
  double Marks(const std::string& scope) const {
    return caller_->Sum("levee_overload_marks_total",
                        {R"(direction="received")", "scope=\"" + scope + "\""});
  }
  double Attempts() const { return caller_->Sum("levee_attempts_total"); }

  std::vector<std::unique_ptr<SlottedService>> services_;
  std::unique_ptr<GuardedServices> guards_;
  std::unique_ptr<SidecarProcess> caller_;
};

TEST_F(GuardFleetSoak, G9_CallersOfAnOverloadedInstanceSucceedElsewhere) {
  // Callers without a sidecar want four times what the first instance can do.
  auto others = std::async(std::launch::async, [this] {
    RunLoad({NewChannel(guards_->address(0))}, Steady(4.0 / kInstances, 3));
  });
  const Load load = Steady(0.5, 3);
  auto codes = Run(load);
  others.get();
  std::cout << codes[StatusCode::OK] << " of " << load.calls << " calls are good, "
            << Marks("endpoint") << " refusals for the instance\n";
  EXPECT_GE(codes[StatusCode::OK], 0.98 * load.calls);
  EXPECT_GE(Marks("endpoint"), 5);
  EXPECT_EQ(Marks("service"), 0);
}

TEST_F(GuardFleetSoak, G9_WhereAllInstancesAreOverloadedRetriesEnd) {
  Run(Steady(3, 2));
  const double endpoint = Marks("endpoint"), service = Marks("service"), attempts = Attempts();
  const Load load = Steady(3, 2);
  Run(load);
  const double per_call = (Attempts() - attempts) / load.calls;
  std::cout << endpoint << " refusals for an instance and " << service
            << " for the service at first, " << Marks("endpoint") - endpoint << " and "
            << Marks("service") - service << " later, then with " << per_call
            << " attempts per call\n";
  EXPECT_GT(Marks("service") - service, 9 * (Marks("endpoint") - endpoint));
  EXPECT_LE(per_call, 1.05);
}

}  // namespace
}  // namespace levee
