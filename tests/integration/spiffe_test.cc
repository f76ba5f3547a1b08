// SPDX-License-Identifier: Apache-2.0
// Certificates of a SPIFFE Workload API, between two sidecars with real gRPC at both ends.
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "certificates/authority.h"
#include "gmock/gmock.h"
#include "integration/byte_call.h"
#include "integration/event_lines.h"
#include "integration/eventually.h"
#include "integration/faulty_service.h"
#include "integration/log_lines.h"
#include "integration/sidecar_process.h"
#include "integration/tcp.h"
#include "integration/workload_api.h"

namespace levee {
namespace {

namespace fs = std::filesystem;
using grpc::StatusCode;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

// The application "web" calls the service "cart": each has an agent and a sidecar of its own.
struct Spiffe : public ::testing::Test {
  Spiffe() {
    std::string name = ::testing::TempDir() + "levee-spiffe-XXXXXX";
    EXPECT_NE(mkdtemp(name.data()), nullptr);
    folder = name;
    web = std::make_unique<WorkloadApi>(folder / "web.sock");
    cart = std::make_unique<WorkloadApi>(folder / "cart.sock");
  }
  ~Spiffe() override { fs::remove_all(folder); }

  std::string Socket(const char* agent) const {
    return absl::StrCat("spiffe: 'unix://", (folder / agent).string(), ".sock'");
  }

  std::string Put(const std::string& name, const std::string& text) const {
    std::ofstream(folder / name) << text;
    return folder / name;
  }

  // Of cart, before its service.
  ConfigParts Ingress() const {
    return {.endpoints = {service.address()},
            .retry = kOnce,
            .listener = ", max_connection_age: 300ms, tls: {" + Socket("cart") + "}",
            .more = "access_log: {path: stdout, when: [all]}\n"};
  }
  // Of web, before cart's.
  ConfigParts Egress(const SidecarProcess& ingress, const std::string& id = kCart,
                     const std::string& retry = kOnce) const {
    return {.endpoints = {ingress.address()},
            .retry = retry,
            .upstream = absl::StrCat(", tls: {", Socket("web"), ", subject_alt_names: ['uri:", id,
                                     "']}, reconnect: {initial: 10s, jitter: none}"),
            .admin = "{address: \"127.0.0.1:0\"}"};
  }

  static bool WaitForRotations(const SidecarProcess& sidecar, int count) {
    return sidecar.WaitForSum("levee_tls_certificate_rotations_total", {}, count);
  }

  // Calls over this channel until the access log of `ingress` has that caller; false after
  // kPatience.
  static bool CallUntilPeerIs(const ChannelPtr& channel, SidecarProcess& ingress,
                              const std::string& peer) {
    bool good = true, is = false;
    Eventually([&] {
      const Reply reply = CallUnary(channel);
      good = reply.status.ok();
      EXPECT_TRUE(good) << reply.status.error_message();
      is = good && LogLine(ingress.process().ReadLine().value_or("{}")).Text("peer") == peer;
      return is || !good;
    });
    return is;
  }

  fs::path folder;
  Authority authority;
  std::unique_ptr<WorkloadApi> web, cart;
  FaultyService service;
};

TEST_F(Spiffe, TwoSidecarsProveToEachOtherWhoTheyAre) {
  web->Give(authority, kWeb);
  cart->Give(authority, kCart);
  SidecarProcess ingress(Ingress());
  SidecarProcess egress(Egress(ingress));
  const Reply reply = CallUnary(NewChannel(egress.address()), "hello");
  EXPECT_EQ(reply.body, "hello") << reply.status.error_message();
  EXPECT_EQ(LogLine(ingress.process().ReadLine().value_or("{}")).Text("peer"), kWeb);
  EXPECT_TRUE(web->all_marked());
  for (const auto& [sidecar, kind] : {std::pair(&egress, "client"), {&ingress, "server egress"}}) {
    EXPECT_NEAR(sidecar->Sum("levee_tls_certificate_expiry_timestamp_seconds",
                             {absl::StrCat("kind=\"", kind, "\"")}),
                absl::ToUnixSeconds(absl::Now() + absl::Hours(1)), 60);
  }
  EXPECT_THAT(ErrorsWith(egress, kWeb), HasSubstr(kWeb));
}

TEST_F(Spiffe, AServiceOfAnotherIdGetsNoCall) {
  web->Give(authority, kWeb);
  cart->Give(authority, kCart);
  SidecarProcess ingress(Ingress());
  SidecarProcess egress(Egress(ingress, "spiffe://shop/payments"));
  EXPECT_THAT(CallUnary(NewChannel(egress.address())).status.error_message(),
              HasSubstr("the service's certificate is for spiffe://shop/cart and not for "
                        "spiffe://shop/payments"));
  EXPECT_EQ(service.calls(), 0);
}

TEST_F(Spiffe, ACallerOfAnotherTrustDomainIsRefusedThoughTheCaIsTheSame) {
  web->Give(authority, "spiffe://bank/web");
  cart->Give(authority, kCart);
  SidecarProcess ingress(Ingress());
  SidecarProcess egress(Egress(ingress));
  const grpc::Status refused = CallUnary(NewChannel(egress.address())).status;
  EXPECT_EQ(refused.error_code(), StatusCode::UNAVAILABLE);
  EXPECT_THAT(refused.error_message(), HasSubstr("which is no SVID of the trust domain bank"));
  EXPECT_EQ(service.calls(), 0);
}

TEST_F(Spiffe, ACallerWithoutASpiffeIdIsRefused) {
  cart->Give(authority, kCart);
  SidecarProcess ingress(Ingress());
  const auto is_served = [&](const std::vector<std::string>& names) {
    const PemPair own = authority.Issue({.names = names});
    ConfigParts parts = Egress(ingress);
    parts.upstream = absl::StrCat(", tls: {ca: ", Put("ca.pem", authority.pem()),
                                  ", certificate: ", Put("own.crt", own.certificate),
                                  ", key: ", Put("own.key", own.key),
                                  ", subject_alt_names: ['uri:", kCart, "']}");
    SidecarProcess egress(parts);
    return CallUnary(NewChannel(egress.address())).status.ok();
  };
  EXPECT_TRUE(is_served({"web.shop", kWeb}));
  EXPECT_FALSE(is_served({"web.shop"}));
  EXPECT_EQ(service.calls(), 1);
}

TEST_F(Spiffe, ASidecarMayStartBeforeItsAgent) {
  web.reset();
  cart->Give(authority, kCart);
  SidecarProcess ingress(Ingress());
  SidecarProcess egress(Egress(ingress));
  const ChannelPtr channel = NewChannel(egress.address());
  const grpc::Status early = CallUnary(channel).status;
  EXPECT_EQ(early.error_code(), StatusCode::UNAVAILABLE);
  EXPECT_THAT(early.error_message(), HasSubstr("has given no certificate"));
  EXPECT_THAT(ErrorsWith(egress, "gives no certificate"), HasSubstr("gives no certificate"));
  web = std::make_unique<WorkloadApi>(folder / "web.sock");
  web->Give(authority, kWeb);
  EXPECT_TRUE(WaitForRotations(egress, 1));
  EXPECT_EQ(egress.Sum("levee_config_reloads_total"), 0);
  // It does not wait until the endpoint would be tried again.
  EXPECT_TRUE(CallUnary(channel).status.ok());
  EXPECT_THAT(ErrorsWith(egress, "gives certificates again"),
              HasSubstr("gives certificates again"));
}

TEST_F(Spiffe, AListenerWithoutACertificateYetEndsHandshakesAndThenServes) {
  web->Give(authority, kWeb);
  SidecarProcess ingress(Ingress());
  SidecarProcess egress(Egress(ingress, kCart, "{max_attempts: 1}"));
  EXPECT_FALSE(CallUnary(NewChannel(egress.address())).status.ok());
  EXPECT_TRUE(ingress.WaitForSumAtLeast("levee_tls_handshakes_total", {R"(result="other")"}, 1));
  cart->Give(authority, kCart);
  EXPECT_TRUE(WaitForRotations(ingress, 1));
  SidecarProcess another(Egress(ingress));
  EXPECT_TRUE(CallUnary(NewChannel(another.address())).status.ok());
}

TEST_F(Spiffe, AnAgentMayGoAndComeBack) {
  web->Give(authority, kWeb);
  cart->Give(authority, kCart);
  SidecarProcess ingress(Ingress());
  SidecarProcess egress(Egress(ingress));
  const ChannelPtr channel = NewChannel(egress.address());
  EXPECT_TRUE(CallUnary(channel).status.ok());
  web.reset();
  EXPECT_TRUE(CallUnary(channel).status.ok());
  web = std::make_unique<WorkloadApi>(folder / "web.sock");
  web->Give(authority, kWeb);
  EXPECT_TRUE(WaitForRotations(egress, 1));
  EXPECT_THAT(ErrorsWith(egress, "the agent ends"), HasSubstr("the agent ends"));
  EXPECT_TRUE(CallUnary(channel).status.ok());
}

TEST_F(Spiffe, AnAgentThatDoesNotKnowTheWorkloadIsAskedAgain) {
  cart->Give(authority, kCart);
  web->Refuse({StatusCode::PERMISSION_DENIED, "no identity issued"});
  SidecarProcess ingress(Ingress());
  SidecarProcess egress(Egress(ingress));
  EXPECT_TRUE(web->WaitForStreams(3));
  EXPECT_THAT(ErrorsWith(egress, "PERMISSION_DENIED: no identity issued"),
              HasSubstr("PERMISSION_DENIED: no identity issued"));
  web->Give(authority, kWeb);
  web->Refuse(grpc::Status::OK);
  EXPECT_TRUE(WaitForRotations(egress, 1));
  EXPECT_TRUE(CallUnary(NewChannel(egress.address())).status.ok());
}

TEST_F(Spiffe, AnSvidThatCannotBeUsedLeavesTheOldOne) {
  web->Give(authority, kWeb);
  cart->Give(authority, kCart);
  SidecarProcess ingress(Ingress());
  SidecarProcess egress(Egress(ingress));
  X509SVIDResponse garbage = SvidResponse(authority, authority.Issue({.names = {kWeb}}), kWeb);
  garbage.mutable_svids(0)->set_x509_svid_key("secret garbage");
  web->Give(garbage);
  EXPECT_TRUE(web->WaitUntilSent());
  web->Give(X509SVIDResponse());
  EXPECT_TRUE(web->WaitUntilSent());
  EXPECT_TRUE(CallUnary(NewChannel(egress.address())).status.ok());
  web->Give(authority, kWeb);
  EXPECT_TRUE(WaitForRotations(egress, 1));
  EXPECT_EQ(egress.Sum("levee_config_reloads_total", {R"(result="failure")"}), 0);
  const std::string errors = ErrorsWith(egress, "it has no SVID for this workload");
  EXPECT_THAT(errors, HasSubstr("the key cannot be read"));
  EXPECT_THAT(errors, HasSubstr("it has no SVID for this workload"));
  EXPECT_THAT(errors, Not(HasSubstr("secret garbage")));
}

TEST_F(Spiffe, TheStateShowsWhoseCertificatesItAreAndWhyNoneComes) {
  web->Give(authority, kWeb);
  cart->Give(authority, kCart);
  SidecarProcess ingress(Ingress());
  SidecarProcess egress(Egress(ingress));
  const std::string admin = egress.AwaitAddress("admin");
  const std::string begin =
      absl::StrCat(R"("certificates":[{"of":"upstream shop","source":"unix://)",
                   (folder / "web.sock").string(), R"(","identity":"spiffe://shop/web","begins":)");
  EXPECT_THAT(HttpGet(admin, "/api/v1/state").body,
              AllOf(HasSubstr(begin), HasSubstr(R"("fault":"")")));
  web->Give(X509SVIDResponse());
  EXPECT_TRUE(web->WaitUntilSent());
  std::string state;
  Eventually([&] {
    state = HttpGet(admin, "/api/v1/state").body;
    return state.find("it has no SVID") != std::string::npos;
  });
  EXPECT_THAT(state,
              AllOf(HasSubstr(begin), HasSubstr(R"("fault":"it has no SVID for this workload")")));
}

TEST_F(Spiffe, AReloadMayTakeAnotherSocketWithoutAFailedCall) {
  web->Give(authority, kWeb);
  cart->Give(authority, kCart);
  SidecarProcess ingress(Ingress());
  SidecarProcess egress(Egress(ingress));
  const ChannelPtr channel = NewChannel(egress.address());
  EXPECT_TRUE(CallUnary(channel).status.ok());
  WorkloadApi other(folder / "other.sock");
  other.Give(authority, "spiffe://shop/other");
  ConfigParts parts = Egress(ingress);
  const size_t at = parts.upstream.find("web.sock");
  parts.upstream.replace(at, 8, "other.sock");
  egress.Rewrite(parts);
  EXPECT_TRUE(egress.WaitForSum("levee_config_reloads_total", {R"(result="success")"}, 1));
  EXPECT_TRUE(CallUnary(channel).status.ok());
  EXPECT_THAT(ErrorsWith(egress, "spiffe://shop/other"), HasSubstr("spiffe://shop/other"));
}

TEST_F(Spiffe, ANewSvidIsUsedThoughTheFileHasAFault) {
  for (const char* const broken : {"upstreams: [", "listeners: nonsense", ""}) {
    web->Give(authority, kWeb);
    cart->Give(authority, kCart);
    SidecarProcess ingress(Ingress());
    SidecarProcess egress(Egress(ingress));
    const ChannelPtr channel = NewChannel(egress.address());
    EXPECT_TRUE(CallUntilPeerIs(channel, ingress, kWeb));
    egress.RewriteText(broken);
    EXPECT_TRUE(egress.WaitForSum("levee_config_reloads_total", {R"(result="failure")"}, 1));
    web->Give(authority, "spiffe://shop/new");
    EXPECT_TRUE(WaitForRotations(egress, 1)) << broken;
    EXPECT_TRUE(CallUntilPeerIs(channel, ingress, "spiffe://shop/new")) << broken;
    // The faults are still to be mended.
    EXPECT_EQ(egress.Sum("levee_config_last_reload_successful"), 0);
    EXPECT_EQ(egress.Sum("levee_config_reloads_total"), 1);
    egress.Rewrite(Egress(ingress));
    EXPECT_TRUE(egress.WaitForSum("levee_config_last_reload_successful", {}, 1));
    EXPECT_EQ(egress.Sum("levee_config_reloads_total", {R"(result="success")"}), 1);
    EXPECT_EQ(egress.Sum("levee_tls_certificate_rotations_total"), 1);
  }
}

TEST_F(Spiffe, TheFirstSvidIsUsedThoughTheFileHasAFaultByThen) {
  cart->Give(authority, kCart);
  SidecarProcess ingress(Ingress());
  SidecarProcess egress(Egress(ingress));
  egress.RewriteText("upstreams: [");
  EXPECT_TRUE(egress.WaitForSum("levee_config_reloads_total", {R"(result="failure")"}, 1));
  web->Give(authority, kWeb);
  EXPECT_TRUE(WaitForRotations(egress, 1));
  EXPECT_TRUE(CallUntilPeerIs(NewChannel(egress.address()), ingress, kWeb));
}

TEST_F(Spiffe, ARotationBesideAReloadCountsAndSoDoesTheReload) {
  constexpr int kTimes = 12;
  web->Give(authority, kWeb);
  cart->Give(authority, kCart);
  SidecarProcess ingress(Ingress());
  SidecarProcess egress(Egress(ingress));
  for (int i = 1; i <= kTimes; ++i) {
    ConfigParts parts = Egress(ingress);
    parts.more = absl::StrCat("drain: {timeout: ", i, "s}\n");
    web->Give(authority, kWeb);
    egress.Rewrite(parts);
    EXPECT_TRUE(WaitForRotations(egress, i));
    EXPECT_TRUE(egress.WaitForSum("levee_config_reloads_total", {R"(result="success")"}, i));
  }
  EXPECT_EQ(egress.Sum("levee_tls_certificate_rotations_total"), kTimes);
  EXPECT_EQ(egress.Sum("levee_config_reloads_total", {R"(result="success")"}), kTimes);
  EXPECT_TRUE(CallUnary(NewChannel(egress.address())).status.ok());
}

TEST_F(Spiffe, NothingShowsTheKey) {
  const PemPair pair = web->Give(authority, kWeb);
  cart->Give(authority, kCart);
  SidecarProcess ingress(Ingress());
  SidecarProcess egress(Egress(ingress));
  EXPECT_TRUE(CallUnary(NewChannel(egress.address())).status.ok());
  const std::string admin = egress.AwaitAddress("admin");
  const std::string line = pair.key.substr(pair.key.find('\n') + 1, 40);
  for (const char* const path : {"/config", "/api/v1/state", "/"}) {
    EXPECT_THAT(HttpGet(admin, path).body, Not(HasSubstr(line))) << path;
  }
  EXPECT_THAT(HttpGet(admin, "/config").body, HasSubstr("web.sock"));
  EXPECT_THAT(egress.process().Errors(), Not(HasSubstr(line)));
}

}  // namespace
}  // namespace levee
