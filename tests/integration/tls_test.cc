// SPDX-License-Identifier: Apache-2.0
// TLS towards services and on listeners, with real gRPC at both ends.
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "certificates/authority.h"
#include "gmock/gmock.h"
#include "integration/byte_call.h"
#include "integration/event_lines.h"
#include "integration/faulty_service.h"
#include "integration/log_lines.h"
#include "integration/pem_files.h"
#include "integration/secure_service.h"
#include "integration/sidecar_process.h"
#include "integration/tcp.h"

namespace levee {
namespace {

using grpc::StatusCode;
using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

struct Tls : public ::testing::Test {
  std::string Ca() { return "ca: " + folder.Put("ca.pem", authority.pem()); }

  // A channel over TLS to the sidecar, whose certificate is for localhost.
  ChannelPtr SecureChannel(const SidecarProcess& sidecar, const PemPair& own = {}) {
    grpc::ChannelArguments arguments;
    arguments.SetSslTargetNameOverride("localhost");
    return NewChannel(sidecar.address(), arguments,
                      grpc::SslCredentials({.pem_root_certs = authority.pem(),
                                            .pem_private_key = own.key,
                                            .pem_cert_chain = own.certificate}));
  }

  PemFiles folder;
  Authority authority;
};

TEST_F(Tls, T1_CallsGoToAServiceThatSpeaksTls) {
  SecureService secure(authority);
  SidecarProcess sidecar({.endpoints = {secure.endpoint}, .upstream = ", tls: {" + Ca() + "}"});
  const ChannelPtr channel = NewChannel(sidecar.address());
  for (const size_t size : {5, 200'000, 3'000'000}) {
    const std::string body(size, 'x');
    const Reply reply = CallUnary(channel, body);
    EXPECT_TRUE(reply.status.ok()) << reply.status.error_message();
    EXPECT_TRUE(reply.body == body);
  }
}

TEST_F(Tls, T1_AServiceMayDemandACertificate) {
  SecureService secure(authority, /*demands_certificate=*/true);
  const std::string own = folder.Put("levee", authority.Issue({.names = {"caller"}}));
  SidecarProcess with(
      {.endpoints = {secure.endpoint}, .upstream = ", tls: {" + Ca() + ", " + own + "}"});
  EXPECT_TRUE(CallUnary(NewChannel(with.address())).status.ok());
  SidecarProcess without(
      {.endpoints = {secure.endpoint}, .retry = kOnce, .upstream = ", tls: {" + Ca() + "}"});
  const grpc::Status refused = CallUnary(NewChannel(without.address())).status;
  EXPECT_EQ(refused.error_code(), StatusCode::UNAVAILABLE);
  EXPECT_THAT(refused.error_message(), Not(HasSubstr("plaintext")));
}

TEST_F(Tls, T1_AServiceOfAnotherNameGetsNoCall) {
  SecureService secure(authority, authority.Issue({.names = {"cart.shop"}}), false);
  SidecarProcess sidecar(
      {.endpoints = {secure.endpoint}, .retry = kOnce, .upstream = ", tls: {" + Ca() + "}"});
  const Reply reply = CallUnary(NewChannel(sidecar.address()));
  EXPECT_EQ(reply.status.error_code(), StatusCode::UNAVAILABLE);
  EXPECT_EQ(reply.status.error_message(),
            "cannot connect to " + secure.endpoint +
                ": the service's certificate is for cart.shop and not for localhost");
  EXPECT_EQ(secure.service.calls(), 0);
  SidecarProcess named({.endpoints = {secure.endpoint},
                        .upstream = ", tls: {" + Ca() + ", server_name: cart.shop}"});
  EXPECT_TRUE(CallUnary(NewChannel(named.address())).status.ok());
}

TEST_F(Tls, T1_AFailedHandshakeIsTriedOnAnotherEndpoint) {
  const Authority stranger;
  SecureService wrong(stranger), right(authority);
  SidecarProcess sidecar(
      {.endpoints = {wrong.endpoint, right.endpoint}, .upstream = ", tls: {" + Ca() + "}"});
  for (int i = 0; i < 10; ++i) {
    const Reply reply = CallUnary(NewChannel(sidecar.address()));
    EXPECT_TRUE(reply.status.ok()) << reply.status.error_message();
  }
  EXPECT_EQ(right.service.calls(), 10);
}

TEST_F(Tls, T1_AServiceWithoutTlsIsNamed) {
  FaultyService plain;
  SidecarProcess sidecar({.endpoints = {"localhost:" + std::to_string(plain.port())},
                          .retry = kOnce,
                          .upstream = ", tls: {" + Ca() + "}"});
  EXPECT_THAT(CallUnary(NewChannel(sidecar.address())).status.error_message(),
              HasSubstr("the service does not speak TLS"));
}

TEST_F(Tls, T1_CallersReachAListenerOverTls) {
  FaultyService service;
  const std::string own = folder.Put("levee", authority.Issue());
  SidecarProcess sidecar({.endpoints = {service.address()}, .listener = ", tls: {" + own + "}"});
  const Reply reply = CallUnary(SecureChannel(sidecar), "hello");
  EXPECT_EQ(reply.body, "hello") << reply.status.error_message();
  EXPECT_FALSE(CallUnary(NewChannel(sidecar.address())).status.ok());
  EXPECT_EQ(service.calls(), 1);
}

TEST_F(Tls, T1_AListenerMayDemandACertificate) {
  FaultyService service;
  const std::string own = folder.Put("levee", authority.Issue());
  const std::string client_ca = ", client_ca: " + folder.Put("ca.pem", authority.pem());
  SidecarProcess sidecar(
      {.endpoints = {service.address()}, .listener = ", tls: {" + own + client_ca + "}"});
  EXPECT_TRUE(
      CallUnary(SecureChannel(sidecar, authority.Issue({.names = {"caller"}}))).status.ok());
  EXPECT_FALSE(CallUnary(SecureChannel(sidecar)).status.ok());
  EXPECT_FALSE(CallUnary(SecureChannel(sidecar, Authority().Issue())).status.ok());
  EXPECT_EQ(service.calls(), 1);
}

TEST_F(Tls, RoutesLimitsAndTheAccessLogKnowACallerByItsCertificate) {
  FaultyService service;
  const std::string client_ca = ", client_ca: " + folder.Put("ca.pem", authority.pem());
  SidecarProcess sidecar(
      {.endpoints = {service.address()},
       .policy = ", rate_limit: [{name: each, rate: 1/h, key: [peer]}]",
       .route = "match: {listener: egress, peer: 'spiffe://shop/*'}, ",
       .listener = ", tls: {" + folder.Put("levee", authority.Issue()) + client_ca + "}",
       .more = "access_log: {path: stdout, when: [all]}\n"});
  const auto caller = [&](const std::string& name) {
    return SecureChannel(sidecar, authority.Issue({.names = {"caller", name}}));
  };
  const auto expect = [&](const ChannelPtr& channel, StatusCode code, const std::string& peer) {
    EXPECT_EQ(CallUnary(channel).status.error_code(), code) << peer;
    EXPECT_EQ(LogLine(sidecar.process().ReadLine().value_or("{}")).Text("peer"), peer);
  };
  const ChannelPtr cart = caller("spiffe://shop/cart");
  expect(cart, StatusCode::OK, "spiffe://shop/cart");
  expect(cart, StatusCode::RESOURCE_EXHAUSTED, "spiffe://shop/cart");
  expect(caller("spiffe://shop/web"), StatusCode::OK, "spiffe://shop/web");
  expect(caller("spiffe://bank/web"), StatusCode::UNIMPLEMENTED, "spiffe://bank/web");
  expect(caller("DNS:spiffe://shop/web"), StatusCode::UNIMPLEMENTED, "caller");
  EXPECT_EQ(service.calls(), 2);
}

TEST_F(Tls, T4_CallersThatSayNothingKeepNobodyOut) {
  FaultyService service;
  const std::string own = folder.Put("levee", authority.Issue());
  SidecarProcess sidecar({.endpoints = {service.address()},
                          .listener = ", tls: {" + own + "}",
                          .more = "limits: {handshakes: 1}\n"});
  std::vector<std::unique_ptr<TcpConnection>> silent;
  for (int i = 0; i < 200; ++i) {
    silent.push_back(std::make_unique<TcpConnection>(sidecar.address()));
  }
  EXPECT_TRUE(CallUnary(SecureChannel(sidecar)).status.ok());
  EXPECT_EQ(sidecar.Sum("levee_limit_hits_total", {R"("handshakes")"}), 0);
}

TEST_F(Tls, T4_ACallerThatStopsInTheMiddleCannotKeepOthersOut) {
  FaultyService service;
  const std::string own = folder.Put("levee", authority.Issue());
  SidecarProcess sidecar({.endpoints = {service.address()},
                          .listener = ", tls: {" + own + "}",
                          .more = "limits: {handshakes: 1}\n"});
  TcpConnection stopped(sidecar.address());
  ASSERT_TRUE(stopped.Send("\x16"));  // the first byte of a ClientHello
  const auto patiently = [](grpc::ClientContext& context) { context.set_wait_for_ready(true); };
  EXPECT_TRUE(CallUnary(SecureChannel(sidecar), "hello", patiently).status.ok());
  EXPECT_GE(sidecar.Sum("levee_limit_hits_total", {R"("handshakes")"}), 1);  // refused at first
  EXPECT_EQ(sidecar.Sum("levee_limit_hits_total", {R"("handshake")"}), 1);   // made room
  EXPECT_EQ(sidecar.Sum("levee_tls_handshakes_total", {R"(result="timeout")"}), 1);
}

TEST_F(Tls, T2_NewConnectionsUseACertificateThatTookTheOldOnesPlace) {
  FaultyService service;
  folder.Put("levee", authority.Issue());
  const std::string own = folder.Put("levee", authority.Issue());
  SidecarProcess sidecar({.endpoints = {service.address()}, .listener = ", tls: {" + own + "}"});
  const ChannelPtr before = SecureChannel(sidecar);
  EXPECT_TRUE(CallUnary(before).status.ok());
  const Authority next;
  folder.Put("levee", next.Issue());
  EXPECT_TRUE(sidecar.WaitForSum("levee_config_reloads_total", {R"(result="success")"}, 1));
  EXPECT_TRUE(CallUnary(before).status.ok());  // on its old connection
  EXPECT_FALSE(CallUnary(SecureChannel(sidecar)).status.ok());
}

TEST_F(Tls, TheLifeOfACertificateIsInTheMetrics) {
  FaultyService service;
  const std::string own = folder.Put(
      "levee", authority.Issue({.begins_in = -absl::Hours(2), .ends_in = absl::Hours(1)}));
  SidecarProcess sidecar({.endpoints = {service.address()}, .listener = ", tls: {" + own + "}"});
  const auto time = [&](const char* what) {
    return sidecar.Sum(absl::StrCat("levee_tls_certificate_", what, "_timestamp_seconds"),
                       {R"(kind="server egress")"});
  };
  EXPECT_EQ(time("expiry") - time("not_before"), 3 * 60 * 60);
  EXPECT_NEAR(time("expiry"), absl::ToUnixSeconds(absl::Now() + absl::Hours(1)), 60);
}

TEST_F(Tls, T2_APairThatDoesNotFitChangesNothing) {
  FaultyService service;
  const std::string own = folder.Put("levee", authority.Issue());
  SidecarProcess sidecar({.endpoints = {service.address()},
                          .listener = ", tls: {" + own + "}",
                          .admin = "{address: \"127.0.0.1:0\"}"});
  folder.Put("levee.key", authority.Issue().key);
  EXPECT_TRUE(sidecar.WaitForSum("levee_config_reloads_total", {R"(result="failure")"}, 1));
  EXPECT_THAT(ErrorsWith(sidecar, "the key does not belong to the certificate"),
              HasSubstr("the key does not belong to the certificate"));
  EXPECT_TRUE(CallUnary(SecureChannel(sidecar)).status.ok());
  EXPECT_THAT(HttpGet(sidecar.AwaitAddress("admin"), "/api/v1/state").body,
              AllOf(HasSubstr(R"("of":"listener egress")"), HasSubstr(R"("identity":"localhost")"),
                    ContainsRegex(R"("fault":"[^"]*the key does not belong to the certificate)")));
}

TEST_F(Tls, T2_ConnectionsToAServiceStayWhenTheCertificateIsReplaced) {
  SecureService secure(authority, /*demands_certificate=*/true);
  const std::string own = folder.Put("levee", authority.Issue());
  SidecarProcess sidecar(
      {.endpoints = {secure.endpoint}, .upstream = ", tls: {" + Ca() + ", " + own + "}"});
  const ChannelPtr channel = NewChannel(sidecar.address());
  EXPECT_TRUE(CallUnary(channel).status.ok());
  folder.Put("levee", authority.Issue());
  EXPECT_TRUE(sidecar.WaitForSum("levee_config_reloads_total", {R"(result="success")"}, 1));
  EXPECT_TRUE(CallUnary(channel).status.ok());
  EXPECT_EQ(sidecar.Sum("levee_upstream_connections"), 1);
}

}  // namespace
}  // namespace levee
