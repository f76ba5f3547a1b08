// SPDX-License-Identifier: Apache-2.0
// What operators are told of endpoints.
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "upstream/pool_run.h"

namespace levee {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

TEST(PoolLog, AnEndpointThatRefusesConnectionsIsToldOfOnce) {
  const ClosedPort dead;
  PoolRun run;
  run.policy.upstream = "cart";
  run.policy.reconnect = {.initial = absl::Milliseconds(1), .max = absl::Milliseconds(1)};
  Pool& pool = run.Open({run.TargetOf(dead)});
  for (int i = 0; i < 20; ++i) {
    TestCall call(pool);
    call.Start();
    run.Until([&] { return call.ended; });
  }
  EXPECT_THAT(run.log_lines, ElementsAre(AllOf(StartsWith("endpoint_unreachable: "),
                                               HasSubstr(" upstream=cart endpoint=127.0.0.1:"),
                                               EndsWith(" reason=\"connection refused\""))));
}

TEST(PoolLog, ANameThatIsNotFoundIsToldOfAsAnEndpoint) {
  PoolRun run;
  run.policy.upstream = "cart";
  Pool& pool = run.Open({{.host = "nowhere.test", .port = 1, .path = ""}});
  TestCall call(pool);
  call.Start();
  run.Until([&] { return call.ended; });
  EXPECT_THAT(run.log_lines, ElementsAre(AllOf(StartsWith("endpoint_unreachable: "),
                                               HasSubstr("endpoint=nowhere.test:1"))));
}

TEST(PoolLog, AnEndpointThatComesBackIsToldOfOnce) {
  const std::string path = testing::TempDir() + "levee-pool-log.sock";
  PoolRun run;
  run.policy.reconnect = {.initial = absl::Milliseconds(1), .max = absl::Milliseconds(1)};
  Pool& pool = run.Open({{.host = "", .port = 0, .path = path}});
  TestCall call(pool);
  call.Start();
  run.Until([&] { return run.Endpoints(EndpointState::kFailing) == 1; });
  run.servers.push_back(std::make_unique<TestServer>(run.io, *net::Address::FromUnixPath(path)));
  run.Until([&] { return run.Endpoints(EndpointState::kReady) == 1; });
  run.CallOne();
  const std::string name = " endpoint=unix:" + path;
  EXPECT_THAT(run.log_lines,
              ElementsAre(AllOf(StartsWith("endpoint_unreachable: "), HasSubstr(name)),
                          AllOf(StartsWith("endpoint_reachable: "), HasSubstr(name))));
}

TEST(PoolLog, AnEjectionAndItsEndAreToldOf) {
  PoolRun run;
  TestServer& bad = run.Serve();
  TestServer& good = run.Serve();
  Pool& pool = run.Open({run.TargetOf(bad), run.TargetOf(good)});
  run.CallOne();
  run.Until([&] { return run.Endpoints(EndpointState::kReady) == 2; });
  while (run.Endpoints(EndpointState::kEjected) == 0) {
    TestCall call(pool);
    call.Start({}, {1});
    run.Until([&] { return call.ended; });
    pool.OnAttemptEnded(0, false);
    pool.OnAttemptEnded(1, true);
    run.Pass(absl::Milliseconds(1));  // Failures at one instant count as one.
  }
  const std::string name = "endpoint=" + bad.address().ToString();
  EXPECT_THAT(run.log_lines, ElementsAre(AllOf(StartsWith("endpoint_ejected: "), EndsWith(name))));
  // It is taken back when it is the only one left.
  good.Close();
  run.Until([&] { return run.Endpoints(EndpointState::kEjected) == 0; });
  EXPECT_THAT(run.log_lines,
              testing::Contains(AllOf(StartsWith("endpoint_returned: "), HasSubstr(name))));
}

TEST(PoolLog, AnEndpointThatIsTakenOutOfTheConfigurationIsToldOfNoMore) {
  const ClosedPort dead;
  PoolRun run;
  TestServer& server = run.Serve();
  Pool& pool = run.Open({run.TargetOf(dead), run.TargetOf(server)});
  run.CallOne();
  run.Until([&] { return run.Endpoints(EndpointState::kFailing) == 1; });
  pool.SetTargets({run.TargetOf(server)});
  run.CallOne();
  EXPECT_THAT(run.log_lines, ElementsAre(StartsWith("endpoint_unreachable: ")));
}

}  // namespace
}  // namespace levee
