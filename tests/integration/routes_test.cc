// SPDX-License-Identifier: Apache-2.0
// Routes by headers and routes that deny, with real gRPC at both ends.
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "certificates/authority.h"
#include "gtest/gtest.h"
#include "integration/byte_call.h"
#include "integration/faulty_service.h"
#include "integration/log_lines.h"
#include "integration/pem_files.h"
#include "integration/sidecar_process.h"

namespace levee {
namespace {

using grpc::StatusCode;

constexpr char kRejects[] = "levee_downstream_rejects_total";

Setup WithHeaders(const std::vector<std::pair<std::string, std::string>>& headers) {
  return [headers](grpc::ClientContext& context) {
    for (const auto& [name, value] : headers) context.AddMetadata(name, value);
  };
}

TEST(Routes, HeadersChooseTheUpstreamOfEachCallOnOneConnection) {
  FaultyService gold, rest;
  const TempFile config(
      absl::StrCat("listeners: [{name: egress, address: \"127.0.0.1:0\"}]\n"
                   "metrics: {address: \"127.0.0.1:0\"}\nadmin: {address: none}\n"
                   "upstreams: [{name: gold, endpoints: [\"",
                   gold.address(), "\"]}, {name: shop, endpoints: [\"", rest.address(),
                   "\"]}]\nroutes:\n"
                   "- {match: {headers: [{name: X-Tenant, exact: gold}, "
                   "{name: x-old, present: false}]}, upstream: gold}\n"
                   "- {match: {headers: [{name: x-tenant, regex: 'gold-[0-9]+'}]}, "
                   "upstream: gold}\n- {upstream: shop}\n"));
  const auto sidecar = SidecarProcess::Run({"--config", config.path()});
  const ChannelPtr channel = NewChannel(sidecar->address());
  const auto call = [&](const std::vector<std::pair<std::string, std::string>>& headers) {
    const int before = gold.calls();
    EXPECT_TRUE(CallUnary(channel, "hello", WithHeaders(headers)).status.ok());
    return gold.calls() > before;
  };
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(call({{"x-tenant", "gold"}}));
    EXPECT_FALSE(call({}));
    EXPECT_FALSE(call({{"x-tenant", "Gold"}}));
    EXPECT_FALSE(call({{"x-tenant", "gold"}, {"x-old", ""}}));
    EXPECT_TRUE(call({{"x-tenant", "silver"}, {"x-tenant", "gold"}}));
    EXPECT_TRUE(call({{"x-tenant", "gold-17"}}));
    EXPECT_FALSE(call({{"x-tenant", "gold-17x"}}));
  }
  EXPECT_EQ(sidecar->Sum("levee_calls_total", {R"(upstream="gold")"}), 9);
  EXPECT_EQ(sidecar->Sum("levee_calls_total", {R"(upstream="shop")"}), 12);
}

TEST(Routes, ACallWhoseHeadersNoRouteAsksForIsRefused) {
  FaultyService service;
  SidecarProcess sidecar({.endpoints = {service.address()},
                          .route = "match: {headers: [{name: x-tenant, present: true}]}, "});
  const ChannelPtr channel = NewChannel(sidecar.address());
  EXPECT_TRUE(CallUnary(channel, "hello", WithHeaders({{"x-tenant", "a"}})).status.ok());
  EXPECT_EQ(CallUnary(channel).status.error_code(), StatusCode::UNIMPLEMENTED);
  EXPECT_EQ(service.calls(), 1);
  EXPECT_EQ(sidecar.Sum(kRejects, {R"(reason="no_route")"}), 1);
}

TEST(Routes, TheSmallerTimeoutOfRouteAndPolicyHolds) {
  FaultyService service;
  SidecarProcess sidecar(
      {.endpoints = {service.address()}, .policy = ", timeout: 1h", .route = "timeout: 50ms, "});
  const Reply reply =
      CallUnary(NewChannel(sidecar.address()), "hello", nullptr, "/test.Echo/Sleep");
  EXPECT_EQ(reply.status.error_code(), StatusCode::DEADLINE_EXCEEDED);
}

TEST(Routes, X3_NoCallFailsWhileWeightsAreReloadedAndRetriesStayOnTheirSide) {
  FaultyService one(FailFirst(2)), other;
  const auto text = [&](int weight) {
    return absl::StrCat(
        "listeners: [{name: egress, address: \"127.0.0.1:0\"}]\n"
        "metrics: {address: \"127.0.0.1:0\"}\nadmin: {address: none}\n"
        "upstreams: [{name: one, endpoints: [\"",
        one.address(), "\"]}, {name: other, endpoints: [\"", other.address(),
        "\"]}]\nroutes: [{split: [{upstream: one, weight: ", weight,
        "}, {upstream: other, weight: 1}], policy: test}]\npolicies: [{name: test, retry: "
        "{max_attempts: 3, backoff: {initial: 1ms}, budget: {ratio: 100}}}]\n");
  };
  const TempFile config(text(1'000'000));
  const auto sidecar = SidecarProcess::Run({"--config", config.path()});
  const ChannelPtr channel = NewChannel(sidecar->address());
  EXPECT_TRUE(CallUnary(channel).status.ok());
  EXPECT_EQ(one.calls(), 3);
  for (const int weight : {0, 1, 50}) {
    const double before = sidecar->Sum("levee_config_reloads_total", {R"(result="success")"});
    RewriteFile(config.path(), text(weight));
    const auto codes = RunLoad({channel}, {.calls = 300});
    EXPECT_EQ(codes.at(StatusCode::OK), 300);
    EXPECT_TRUE(
        sidecar->WaitForSum("levee_config_reloads_total", {R"(result="success")"}, before + 1));
  }
}

// A sidecar before an application that lets in only what shop's own services call.
struct Denying : public ::testing::Test {
  std::string Config(const std::string& certificates) {
    const std::string tls = folder.Put("levee", authority.Issue()) +
                            ", client_ca: " + folder.Put("ca.pem", authority.pem()) +
                            ", client_certificate: " + certificates;
    return absl::StrCat(
        "listeners: [{name: ingress, direction: inbound, address: \"127.0.0.1:0\", tls: {", tls,
        "}}]\nmetrics: {address: \"127.0.0.1:0\"}\nadmin: {address: none}\n"
        "upstreams: [{name: app, endpoints: [\"",
        service.address(),
        "\"]}]\nroutes:\n"
        "- {match: {listener: ingress, peer: \"spiffe://shop/web\", method: /test.Echo/*}, "
        "upstream: app, policy: once}\n"
        "- {match: {listener: ingress}, deny: true}\n"
        "policies: [{name: once, retry: {max_attempts: 1}}]\n"
        "access_log: {path: stdout, when: [all]}\n");
  }

  ChannelPtr Caller(const SidecarProcess& sidecar, const PemPair& own) {
    grpc::ChannelArguments arguments;
    arguments.SetSslTargetNameOverride("localhost");
    return NewChannel(sidecar.address("ingress"), arguments,
                      grpc::SslCredentials({.pem_root_certs = authority.pem(),
                                            .pem_private_key = own.key,
                                            .pem_cert_chain = own.certificate}));
  }

  PemFiles folder;
  Authority authority;
  FaultyService service;
};

TEST_F(Denying, X4_TwentyWrongCallersSendNoByteToTheApplication) {
  const TempFile config(Config("optional"));
  const auto sidecar = SidecarProcess::Run({"--config", config.path()});
  const std::string good = "spiffe://shop/web";
  const Authority stranger;
  const std::vector<std::pair<std::string, PemPair>> strangers = {
      {"of another CA", stranger.Issue({.names = {good}})},
      {"expired", authority.Issue({.names = {good}, .ends_in = -absl::Minutes(1)})},
      {"not valid yet", authority.Issue({.names = {good}, .begins_in = absl::Minutes(10)})}};
  for (const auto& [what, pair] : strangers) {
    EXPECT_EQ(CallUnary(Caller(*sidecar, pair)).status.error_code(), StatusCode::UNAVAILABLE)
        << what;
  }
  const std::vector<std::vector<std::string>> wrong = {{"spiffe://bank/web"},
                                                       {"spiffe://shop"},
                                                       {"spiffe://shop.evil/web"},
                                                       {"spiffe://shop-evil/web"},
                                                       {"spiffe://evil/spiffe://shop/web"},
                                                       {"spiffe://shop/Web"},
                                                       {"spiffe://shop/web."},
                                                       {"spiffe://shop/web2"},
                                                       {"URI:spiffe://shop/%77eb"},
                                                       {"spiffe://shop./web"},
                                                       {"URI:spiffe://shop%2Fweb"},
                                                       {"URI:spiffe%3A//shop/web"},
                                                       {"spiffe://user@shop/web"},
                                                       {"spiffe://shop:443/web"},
                                                       {"spiffe:///shop/web"},
                                                       {"https://shop/web"},
                                                       {"DNS:spiffe://shop/web"},
                                                       {"spiffe://bank/web", "spiffe://shop/web"},
                                                       {"shop", "web.shop"}};
  int denied = 0;
  const auto expect_denied = [&](const PemPair& pair, const std::string& what) {
    const grpc::Status status = CallUnary(Caller(*sidecar, pair)).status;
    EXPECT_EQ(status.error_code(), StatusCode::PERMISSION_DENIED) << what;
    EXPECT_EQ(status.error_message(), "this caller may not call \"/test.Echo/Unary\" here");
    ++denied;
  };
  expect_denied({}, "no certificate");
  for (const std::vector<std::string>& names : wrong) {
    expect_denied(authority.Issue({.names = names}), names.front());
  }
  EXPECT_EQ(service.calls(), 0);
  EXPECT_EQ(sidecar->Sum("levee_attempts_total"), 0);
  EXPECT_EQ(sidecar->Sum(kRejects, {R"(reason="denied")"}), denied);
  EXPECT_EQ(sidecar->Sum("levee_calls_total", {R"(code="PERMISSION_DENIED")"}), denied);

  EXPECT_TRUE(CallUnary(Caller(*sidecar, authority.Issue({.names = {good}}))).status.ok());
  EXPECT_EQ(service.calls(), 1);
}

TEST_F(Denying, ADeniedCallStandsInTheAccessLogWithItsCaller) {
  const TempFile config(Config("required"));
  const auto sidecar = SidecarProcess::Run({"--config", config.path()});
  const ChannelPtr web = Caller(*sidecar, authority.Issue({.names = {"spiffe://shop/web"}}));
  EXPECT_EQ(CallUnary(web, "hello", nullptr, "/test.Admin/Reset").status.error_code(),
            StatusCode::PERMISSION_DENIED);
  const LogLine line(sidecar->process().ReadLine().value_or("{}"));
  EXPECT_EQ(line.Text("code"), "PERMISSION_DENIED");
  EXPECT_EQ(line.Text("peer"), "spiffe://shop/web");
  EXPECT_EQ(line.Text("method"), "test.Admin/Reset");
  EXPECT_EQ(line.Text("listener"), "ingress");
}

}  // namespace
}  // namespace levee
