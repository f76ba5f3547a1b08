// SPDX-License-Identifier: Apache-2.0
// `levee fleet` beside real sidecars of three layers, with real gRPC between them.
#include <chrono>
#include <future>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "integration/byte_call.h"
#include "integration/child.h"
#include "integration/faulty_service.h"
#include "integration/relay.h"
#include "integration/sidecar_process.h"

namespace levee {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

constexpr int kFleetCalls = 40;

constexpr char kNoRetries[] =
    "{max_attempts: 1, app_retries: count, app_retries_loops: count, exhausted: keep}";
// No budget holds its retries back.
constexpr char kUnboundedRetry[] =
    "{max_attempts: 3, budget: {ratio: 10, burst: {least: 1000000}, wait: none},\n"
    "  backoff: {initial: 1ms, max: 1ms}, app_retries_loops: ignore}";

// A channel of a gRPC library that makes three attempts by itself.
ChannelPtr RetryingChannel(const std::string& target) {
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_ENABLE_RETRIES, 1);
  arguments.SetServiceConfigJSON(
      R"({"methodConfig": [{"name": [{}], "retryPolicy": {"maxAttempts": 3,
          "initialBackoff": "0.001s", "maxBackoff": "0.001s", "backoffMultiplier": 1,
          "retryableStatusCodes": ["UNAVAILABLE"]}}]})");
  return grpc::CreateCustomChannel(target, grpc::InsecureChannelCredentials(), arguments);
}

// A sidecar before an application, with a guard, and beside it, for its calls to `upstream`. It
// does not obey the marks that would end the retries of the layers above.
class Both {
 public:
  Both(const std::string& application, const std::string& upstream, const std::string& next,
       const std::string& retry)
      : config_(absl::StrCat(
            "listeners: [{name: egress, address: \"127.0.0.1:0\"},\n"
            "  {name: ingress, address: \"127.0.0.1:0\", direction: inbound}]\n"
            "metrics: {address: \"127.0.0.1:0\"}\nadmin: {address: none}\n"
            "overload: {honor: []}\n"
            "upstreams: [{name: app, endpoints: [\"",
            application, "\"]}, {name: ", upstream, ", endpoints: [\"", next,
            "\"]}]\nroutes: [{match: {listener: ingress}, upstream: app, policy: in}, {upstream: ",
            upstream, "}]\npolicies: [{name: default, retry: ", retry,
            "}, {name: in, guard: {concurrency: {limit: none}},\n"
            "  retry: {max_attempts: 1, app_retries: ignore, app_retries_loops: ignore}}]\n")),
        sidecar_(SidecarProcess::Run({"--config", config_.path()})) {}

  const std::string& egress() const { return sidecar_->address("egress"); }
  const std::string& ingress() const { return sidecar_->address("ingress"); }
  const std::string& metrics() const { return sidecar_->address("metrics"); }
  const SidecarProcess& sidecar() const { return *sidecar_; }

 private:
  const TempFile config_;
  const std::unique_ptr<SidecarProcess> sidecar_;
};

// web calls orders, which calls cart, whose service fails every call. Each has a sidecar before it
// and beside it.
class FleetTest : public testing::Test {
 protected:
  // The retries of the sidecar of web, and of the application orders.
  void Build(const std::string& retry, int attempts) {
    cart_ = std::make_unique<Both>(service_.address(), "unused", service_.address(), kNoRetries);
    application_ = std::make_unique<Relay>(/*traces=*/true, /*cancels=*/true, attempts);
    orders_ = std::make_unique<Both>(application_->address(), "cart", cart_->ingress(), kNoRetries);
    application_->SetNext(ConnectedChannel(orders_->egress()));
    web_ = std::make_unique<Both>(service_.address(), "orders", orders_->ingress(), retry);
  }

  // Each call has a trace of its own.
  void Call(int calls = kFleetCalls) {
    RunLoad({ConnectedChannel(web_->egress())},
            {.calls = calls, .setup = [this](int, grpc::ClientContext& context) {
               context.AddMetadata("traceparent",
                                   absl::StrFormat("00-%032x-%016x-01", ++traces_, 1));
             }});
  }

  // Waits until all calls are counted.
  void WaitForAttempts(const Both& of, int attempts) const {
    EXPECT_TRUE(of.sidecar().WaitForSum("levee_attempts_total", {}, attempts));
  }

  Ended Fleet(std::vector<std::string> words) const {
    words.insert(words.begin(), {"fleet", "web=" + web_->metrics(), "orders=" + orders_->metrics(),
                                 "cart=" + cart_->metrics()});
    Ended fleet = RunToEnd(LEVEE_BINARY, words);
    std::cout << fleet.output;
    return fleet;
  }

  int traces_ = 0;
  FaultyService service_{AlwaysFail()};
  std::unique_ptr<Both> cart_;
  std::unique_ptr<Relay> application_;
  std::unique_ptr<Both> orders_;
  std::unique_ptr<Both> web_;
};

TEST_F(FleetTest, NamesTheMiddleLayerWhoseApplicationRetries) {
  Build(kNoRetries, /*attempts=*/3);
  Call();
  WaitForAttempts(*cart_, 3 * kFleetCalls);
  WaitForAttempts(*orders_, 4 * kFleetCalls);
  WaitForAttempts(*web_, kFleetCalls);
  const Ended fleet = Fleet({"--since-start"});
  EXPECT_EQ(fleet.exit, 1) << fleet.errors;
  EXPECT_THAT(fleet.output,
              StartsWith("3 sidecars, since their start\n"
                         "  - orders multiplies the load: cart gets 3.00 attempts for each call, "
                         "and all\n    of the retries are those of the application orders itself, "
                         "in a loop.\n\n"));
  EXPECT_THAT(fleet.output, HasSubstr("\n  web\n"));
  EXPECT_THAT(fleet.output, HasSubstr("\n    -> orders        1.00     40    40 "));
  EXPECT_THAT(fleet.output, HasSubstr("\n      -> cart !      3.00     40   120 "));
}

TEST_F(FleetTest, NamesTheLayerWhoseSidecarRetries) {
  Build(kUnboundedRetry, /*attempts=*/1);
  Call();
  WaitForAttempts(*cart_, 3 * kFleetCalls);
  WaitForAttempts(*orders_, 6 * kFleetCalls);
  WaitForAttempts(*web_, 3 * kFleetCalls);
  const Ended fleet = Fleet({"--since-start"});
  EXPECT_EQ(fleet.exit, 1) << fleet.errors;
  EXPECT_THAT(
      fleet.output,
      HasSubstr("\n  - web multiplies the load: orders gets 3.00 attempts for each call, and "
                "all of\n    the retries are Levee's own, by the policy for orders in the "
                "sidecar of web.\n  - 67% of the calls of orders to cart are there because "
                "callers of orders\n    retry.\n\n"));
  EXPECT_THAT(fleet.output, Not(HasSubstr("orders multiplies")));
}

TEST_F(FleetTest, NamesTheApplicationWhoseLibraryRetries) {
  Build(kNoRetries, /*attempts=*/1);
  application_->SetNext(RetryingChannel(orders_->egress()));
  Call();
  WaitForAttempts(*cart_, 3 * kFleetCalls);
  WaitForAttempts(*orders_, 4 * kFleetCalls);
  const Ended fleet = Fleet({"--since-start"});
  EXPECT_EQ(fleet.exit, 1) << fleet.errors;
  EXPECT_THAT(fleet.output,
              HasSubstr("\n  - orders multiplies the load: cart gets 3.00 attempts for each call, "
                        "and all\n    of the retries are those of the application orders itself, "
                        "which says so\n    (grpc-previous-rpc-attempts).\n"));
}

TEST_F(FleetTest, NamesCallersOutsideTheFleetThatRetry) {
  Build(kNoRetries, /*attempts=*/1);
  RunLoad({RetryingChannel(web_->ingress())}, {.calls = kFleetCalls});
  WaitForAttempts(*web_, 3 * kFleetCalls);
  const Ended fleet = Fleet({"--since-start"});
  EXPECT_EQ(fleet.exit, 1) << fleet.errors;
  EXPECT_THAT(fleet.output,
              HasSubstr("\n  - Callers of web multiply the load: web gets 3.00 attempts for each "
                        "call, and\n    all of the retries are those of callers outside this "
                        "fleet.\n"));
  EXPECT_THAT(fleet.output, HasSubstr("\n  web (from outside) !      3.00     40   120 "));
}

TEST_F(FleetTest, LooksAtAnIntervalUnlessToldOtherwise) {
  Build(kUnboundedRetry, /*attempts=*/1);
  Call();
  WaitForAttempts(*web_, 3 * kFleetCalls);
  const Ended calm = Fleet({"--interval", "1s"});
  EXPECT_EQ(calm.exit, 0) << calm.output;
  EXPECT_THAT(calm.output, HasSubstr("  - No call went through the sidecars in 1"));
  auto fleet = std::async(std::launch::async, [&] { return Fleet({"--interval", "2s"}); });
  while (fleet.wait_for(std::chrono::seconds(0)) != std::future_status::ready) Call(5);
  const Ended storm = fleet.get();
  EXPECT_EQ(storm.exit, 1) << storm.output;
  EXPECT_THAT(storm.output, HasSubstr("  - web multiplies the load: orders gets"));
}

TEST_F(FleetTest, ASidecarThatDoesNotAnswerIsNamedAndStopsNobody) {
  Build(kNoRetries, /*attempts=*/1);
  Call();
  WaitForAttempts(*web_, kFleetCalls);
  const Ended fleet = Fleet({"--since-start", "stock=127.0.0.1:1", "app=" + web_->egress()});
  EXPECT_EQ(fleet.exit, 1);
  EXPECT_THAT(fleet.output, StartsWith("3 of 5 sidecars, since their start\n"));
  EXPECT_THAT(fleet.output, HasSubstr("stock at 127.0.0.1:1 was not read: connection refused."));
  EXPECT_THAT(fleet.output, HasSubstr("app at " + web_->egress() + " was not read: "));
  EXPECT_THAT(fleet.output, HasSubstr("No layer multiplies the load"));
}

TEST_F(FleetTest, PrintsJsonAndWritesAPicture) {
  Build(kNoRetries, /*attempts=*/3);
  Call();
  WaitForAttempts(*orders_, 4 * kFleetCalls);
  const TempFile html("");
  const Ended fleet = Fleet({"--since-start", "-o", "json", "--html", html.path()});
  EXPECT_THAT(fleet.output, AllOf(StartsWith("{\n  \"ok\": false,\n"),

                                  HasSubstr("\"sentences\": [\n    \"orders multiplies the load: "),
                                  HasSubstr("\"multiplies\": true")));
  const Ended shown = RunToEnd("/bin/cat", {html.path()});
  EXPECT_THAT(shown.output, AllOf(HasSubstr("<svg "), HasSubstr("orders multiplies the load")));
}

}  // namespace
}  // namespace levee
