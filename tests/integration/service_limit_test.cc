// SPDX-License-Identifier: Apache-2.0
// Rate limits that a rate limit service keeps (scope: rls), with gRPC at all ends.
#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "integration/byte_call.h"
#include "integration/faulty_service.h"
#include "integration/limit_server.h"
#include "integration/sidecar_process.h"

namespace levee {
namespace {

using grpc::StatusCode;

class ServiceLimit : public testing::Test {
 protected:
  // A sidecar whose calls have a limit with the key, and with more fields of `rls`.
  std::unique_ptr<SidecarProcess> Sidecar(const std::string& key, const std::string& fields) {
    return std::make_unique<SidecarProcess>(Parts(limits_->address(), key, fields));
  }

  ConfigParts Parts(const std::string& address, const std::string& key,
                    const std::string& fields) const {
    return {.endpoints = {service_.address()},
            .policy = ", rate_limit: [{name: paid, scope: rls, key: [" + key +
                      "], rls: {address: \"" + address + "\", domain: shop, " + fields + "}}]"};
  }

  static StatusCode CallBy(const SidecarProcess& sidecar) {
    return CallUnary(NewChannel(sidecar.address())).status.error_code();
  }

  FaultyService service_;
  std::unique_ptr<LimitServer> limits_ = std::make_unique<LimitServer>();
};

// A call may wait this long for a service that answers.
constexpr char kPatientLimit[] = "timeout: 10s, on_failure: deny";

TEST_F(ServiceLimit, AllSidecarsTogetherHaveWhatTheServiceGrants) {
  limits_->SetLimit("tier=paid", {.requests = 12, .seconds = 3600});
  std::vector<std::unique_ptr<SidecarProcess>> sidecars;
  for (int i = 0; i < 3; ++i) sidecars.push_back(Sidecar("\"tier=text:paid\"", kPatientLimit));
  int ok = 0;
  for (int i = 0; i < 30; ++i) {
    ok += CallBy(*sidecars[static_cast<size_t>(i % 3)]) == StatusCode::OK ? 1 : 0;
  }
  EXPECT_EQ(ok, 12);
  EXPECT_EQ(service_.calls(), 12);
  for (const auto& request : limits_->requests()) {
    EXPECT_EQ(request.domain, "shop");
    EXPECT_EQ(request.descriptor, "tier=paid");
    EXPECT_EQ(request.hits, 1u);
  }
}

TEST_F(ServiceLimit, TheServiceGetsTheKeyAsItsDescriptor) {
  const auto sidecar = Sidecar(
      "method, \"tenant=header:x-tenant\", \"header:x-region\", \"tier=text:paid\"", kPatientLimit);
  CallUnary(NewChannel(sidecar->address()), "hello",
            [](grpc::ClientContext& context) { context.AddMetadata("x-tenant", "acme"); });
  ASSERT_EQ(limits_->requests().size(), 1u);
  EXPECT_EQ(limits_->requests()[0].descriptor,
            "method=/test.Echo/Unary,tenant=acme,x-region=,tier=paid");
}

TEST_F(ServiceLimit, NothingIsRefusedBelowTheLimitAndFewCallsAskTheService) {
  limits_->SetLimit("tier=paid", {.requests = 1'000'000, .seconds = 1});
  const auto sidecar = Sidecar("\"tier=text:paid\"", kPatientLimit);
  const auto codes = RunLoad({NewChannel(sidecar->address())}, {.calls = 2000, .at_once = 8});
  EXPECT_EQ(codes.at(StatusCode::OK), 2000);
  EXPECT_LT(limits_->requests().size(), 1000u);
  EXPECT_GE(limits_->granted("tier=paid"), 2000);
}

TEST_F(ServiceLimit, ACallOverTheLimitIsToldWhenToComeAgain) {
  limits_->SetLimit("tier=paid", {.requests = 1, .seconds = 3600});
  const auto sidecar = Sidecar("\"tier=text:paid\"", kPatientLimit);
  const auto channel = NewChannel(sidecar->address());
  EXPECT_TRUE(CallUnary(channel).status.ok());
  const Reply refused = CallUnary(channel);
  EXPECT_EQ(refused.status.error_code(), StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_GT(std::stoll(Values(refused.trailers, "grpc-retry-pushback-ms")), 0);
  // The next ones are refused without a word to the service.
  const size_t requests = limits_->requests().size();
  for (int i = 0; i < 20; ++i) CallUnary(channel);
  EXPECT_EQ(limits_->requests().size(), requests);
  EXPECT_TRUE(sidecar->WaitForSum("levee_rate_limit_decisions_total",
                                  {R"(limit="paid")", R"(decision="rejected")"}, 21));
}

TEST_F(ServiceLimit, AServiceThatTellsNothingOfItsWindowsIsAskedAgain) {
  limits_->SetLimit("tier=paid", {.requests = 5, .seconds = 3600});
  limits_->TellWindows(false);
  const auto sidecar = Sidecar("\"tier=text:paid\"", kPatientLimit);
  int ok = 0;
  for (int i = 0; i < 20; ++i) ok += CallBy(*sidecar) == StatusCode::OK ? 1 : 0;
  EXPECT_EQ(ok, 5);
}

TEST_F(ServiceLimit, WithoutTheServiceTheLimitSaysWhatHappens) {
  const auto deny = Sidecar("\"tier=text:paid\"", "timeout: 200ms, on_failure: deny");
  const auto allow = Sidecar("\"tier=text:paid\"", "timeout: 200ms, on_failure: allow");
  while (CallBy(*deny) != StatusCode::OK) {
  }
  EXPECT_TRUE(
      deny->WaitForSum("levee_store_connected", {"store=\"" + limits_->address() + "\""}, 1));
  const int port = limits_->port();
  limits_.reset();
  while (CallBy(*deny) == StatusCode::OK) {
  }
  for (int i = 0; i < 20; ++i) EXPECT_EQ(CallBy(*allow), StatusCode::OK) << i;
  for (int i = 0; i < 20; ++i) EXPECT_EQ(CallBy(*deny), StatusCode::RESOURCE_EXHAUSTED) << i;
  EXPECT_TRUE(deny->WaitForSum("levee_store_connected", {}, 0));
  EXPECT_TRUE(deny->WaitForSum("levee_rate_limit_lease", {R"(state="fallback")"}, 1));
  limits_ = std::make_unique<LimitServer>(port);
  while (CallBy(*deny) != StatusCode::OK) {
  }
  EXPECT_TRUE(deny->WaitForSum("levee_rate_limit_lease", {R"(state="leased")"}, 1));
  EXPECT_GE(deny->Sum("levee_store_requests_total", {R"(result="ok")"}), 1);
  EXPECT_GE(deny->Sum("levee_store_requests_total", {R"(result="unavailable")"}), 1);
}

TEST_F(ServiceLimit, NoCallWaitsLongerThanTheTimeoutForAServiceThatHangs) {
  limits_->Hold();
  const auto allow = Sidecar("\"tier=text:paid\"", "timeout: 20ms, on_failure: allow");
  const auto deny = Sidecar("\"tier=text:paid\"", "timeout: 20ms, on_failure: deny");
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(CallBy(*allow), StatusCode::OK) << i;
    EXPECT_EQ(CallBy(*deny), StatusCode::RESOURCE_EXHAUSTED) << i;
  }
  EXPECT_TRUE(allow->WaitForSumAtLeast("levee_store_requests_total", {R"(result="timeout")"}, 1));
  limits_->Release();
  while (CallBy(*deny) != StatusCode::OK) {
  }
}

TEST_F(ServiceLimit, EachKeyHasALimitOfItsOwnAndOthersShareOne) {
  for (const char* tenant : {"a", "b", ""}) {
    limits_->SetLimit(std::string("t=") + tenant, {.requests = 3, .seconds = 3600});
  }
  auto parts = Parts(limits_->address(), "\"t=header:x-tenant\"", kPatientLimit);
  parts.policy.insert(parts.policy.find("scope:"), "max_keys: 2, ");
  const SidecarProcess sidecar(parts);
  const auto ok = [&](const std::string& tenant) {
    int count = 0;
    for (int i = 0; i < 5; ++i) {
      const Reply reply =
          CallUnary(NewChannel(sidecar.address()), "hello",
                    [&](grpc::ClientContext& context) { context.AddMetadata("x-tenant", tenant); });
      count += reply.status.ok() ? 1 : 0;
    }
    return count;
  };
  EXPECT_EQ(ok("a"), 3);
  EXPECT_EQ(ok("b"), 3);
  // A slow machine may have let a bucket become idle, whose place one of these takes.
  EXPECT_GE(ok("c") + ok("d"), 3);
}

TEST_F(ServiceLimit, AReloadChangesTheServiceOfALimit) {
  LimitServer second;
  second.SetLimit("tier=paid", {.requests = 0, .seconds = 3600});
  const auto sidecar = Sidecar("\"tier=text:paid\"", kPatientLimit);
  EXPECT_EQ(CallBy(*sidecar), StatusCode::OK);
  sidecar->Rewrite(Parts(second.address(), "\"tier=text:paid\"", kPatientLimit));
  while (CallBy(*sidecar) == StatusCode::OK) {
  }
  EXPECT_FALSE(second.requests().empty());
}

TEST_F(ServiceLimit, ASidecarEndsWhileACallWaitsForTheService) {
  limits_->Hold();
  const auto sidecar = Sidecar("\"tier=text:paid\"", kPatientLimit);
  ByteCall call(NewChannel(sidecar->address()), "/test.Echo/Unary");
  call.context().set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(1));
  ASSERT_TRUE(call.Start());
  call.Write("x");
  while (limits_->requests().empty()) {
  }
  // The destructor ends it.
}

}  // namespace
}  // namespace levee
