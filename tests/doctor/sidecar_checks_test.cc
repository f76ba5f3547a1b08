// SPDX-License-Identifier: Apache-2.0
// What is found wrong with a sidecar that runs.
#include "doctor/sidecar_checks.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace levee::doctor {
namespace {

using testing::HasSubstr;

constexpr const char* kConfig = R"(
upstreams: [{name: cart, endpoints: ["dns:cart:50051"]}]
routes: [{upstream: cart}]
policies: [{name: default}]
)";

// A sidecar that is well.
class SidecarChecks : public testing::Test {
 protected:
  SidecarChecks() {
    facts_.now = absl::FromUnixSeconds(1'767'225'600);
    facts_.here = true;
    facts_.memory = int64_t{512} << 20;
    facts_.descriptors = 100'000;
    Configure(kConfig);
    facts_.state.set_time(1'767'225'600.5);
    facts_.state.mutable_configuration()->set_sha256("e962943f00000000");
    facts_.state.mutable_configuration()->add_files("levee.yaml");
    facts_.state.mutable_sidecar()->add_listeners("egress 127.0.0.1:9460");
    cart_ = facts_.state.add_upstreams();
    cart_->set_name("cart");
    cart_->set_last_called(7);
    cart_->mutable_endpoint_counts()->set_ready(2);
  }

  void Configure(const std::string& text) {
    facts_.config = CheckConfig({{"/config", text}}, std::nullopt);
  }

  // What is said with the code, each on its line; without a code what is not ok.
  std::string Found(const std::string& code = "") const {
    Findings findings;
    for (const Finding& finding : CheckSidecar(facts_)) {
      const bool wanted = code.empty() ? finding.severity != Severity::kOk : finding.code == code;
      if (wanted) findings.push_back(finding);
    }
    return FindingsText(findings);
  }

  SidecarFacts facts_;
  admin::v1::Upstream* cart_;
};

TEST_F(SidecarChecks, OneThatIsWellHasNoFinding) {
  EXPECT_EQ(Found(), "");
  EXPECT_EQ(WorstOf(CheckSidecar(facts_)), Severity::kOk);
  EXPECT_THAT(Found("LD102"), HasSubstr("ok      LD102 configuration e962943f0000 of levee.yaml"));
  EXPECT_THAT(Found("LD103"), HasSubstr("bound for calls: egress 127.0.0.1:9460"));
  EXPECT_THAT(Found("LD107"), HasSubstr("cart: 2 endpoints are reached"));
}

TEST_F(SidecarChecks, ChecksComeInTheOrderOfTheirCodes) {
  std::string before;
  for (const Finding& finding : CheckSidecar(facts_)) {
    EXPECT_LT(before, finding.code);
    before = finding.code;
  }
  EXPECT_EQ(before, "LD117");
}

TEST_F(SidecarChecks, ARefusedReloadIsAFault) {
  facts_.state.mutable_configuration()->set_last_reload_refused(true);
  facts_.state.mutable_configuration()->add_faults("levee.yaml:1:1: LV105 limit: unknown field");
  EXPECT_EQ(Found(),
            "fault   LD102 the newest configuration is refused, an older one runs: "
            "levee.yaml:1:1: LV105 limit: unknown field; correct the file; levee check says when "
            "it is right\n");
}

TEST_F(SidecarChecks, AListenerThatIsNotBoundIsAFault) {
  Configure(std::string(kConfig) + "listeners: [{name: other, address: \"127.0.0.1:1\"}]\n");
  EXPECT_THAT(Found(), HasSubstr("fault   LD103 listener other is not bound"));
  facts_.state.mutable_sidecar()->clear_listeners();
  EXPECT_THAT(Found(), HasSubstr("LD103"));
}

TEST_F(SidecarChecks, ADrainIsWarnedOf) {
  facts_.state.mutable_sidecar()->set_phase(admin::v1::Sidecar::PHASE_DRAINING);
  EXPECT_THAT(Found(), HasSubstr("warning LD104 it drains and ends soon"));
}

TEST_F(SidecarChecks, NoCallAtAllIsWarnedOf) {
  cart_->set_last_called(0);
  EXPECT_THAT(Found(), HasSubstr("warning LD105 no call has come through it in the last five "
                                 "minutes, and nobody is connected; let the application dial"));
  facts_.state.mutable_sidecar()->set_active_calls(1);
  EXPECT_EQ(Found(), "");
}

TEST_F(SidecarChecks, CallsInTheApplicationsOwnTlsAreWarnedOf) {
  facts_.state.mutable_sidecar()->add_tls_destinations("bank.test:443");
  EXPECT_THAT(Found(), HasSubstr("warning LD106 calls that the application encrypts itself are "
                                 "neither retried nor counted: bank.test:443"));
}

TEST_F(SidecarChecks, AnUpstreamOfWhichNothingIsReachedIsAFault) {
  cart_->mutable_endpoint_counts()->set_ready(0);
  cart_->mutable_endpoint_counts()->set_failing(1);
  auto* endpoint = cart_->add_endpoints();
  endpoint->set_address("10.0.0.7:50051");
  endpoint->set_failure("connection refused");
  EXPECT_THAT(Found(), HasSubstr("fault   LD107 cart: no endpoint is reached: 10.0.0.7:50051: "
                                 "connection refused; see that"));
  cart_->mutable_endpoint_counts()->set_ready(1);
  EXPECT_THAT(Found(), HasSubstr("warning LD107 cart: 1 endpoints are not reached"));
}

TEST_F(SidecarChecks, EndpointsThatItHasNotDialledAreJudgedByDiallingThem) {
  cart_->clear_endpoint_counts();
  EXPECT_THAT(Found("LD107"), HasSubstr("ok      LD107 cart: no endpoint was dialled yet"));
  facts_.dialled = {{"cart", "cart:50051", "Name or service not known"}, {"other", "o:1", ""}};
  EXPECT_THAT(Found(), HasSubstr("fault   LD107 cart: no endpoint is reached: cart:50051: Name or "
                                 "service not known"));
}

TEST_F(SidecarChecks, EjectedEndpointsAreWarnedOf) {
  cart_->mutable_endpoint_counts()->set_ejected(1);
  EXPECT_THAT(Found(), HasSubstr("warning LD107 cart: 1 endpoints are ejected"));
}

TEST_F(SidecarChecks, TlsFilesThatCannotBeUsedAreAFaultOnlyWhereTheyShouldBe) {
  Configure(R"(
upstreams: [{name: cart, endpoints: ["dns:cart:50051"], tls: {ca: /nowhere/ca.pem}}]
routes: [{upstream: cart}]
)");
  EXPECT_THAT(Found(), HasSubstr("fault   LD108 /config:"));
  EXPECT_THAT(Found(), HasSubstr("/nowhere/ca.pem"));
  facts_.here = false;
  EXPECT_THAT(Found("LD108"), HasSubstr("ok      LD108 certificates are not judged"));
}

TEST_F(SidecarChecks, ABudgetThatIsWithheldOrUsedUpIsWarnedOf) {
  cart_->mutable_budget()->set_empty_seconds(40);
  EXPECT_THAT(Found(), HasSubstr("warning LD109 cart: the retry budget has been used up for 40 s"));
  cart_->mutable_budget()->set_floor_withheld(true);
  EXPECT_THAT(
      Found(),
      HasSubstr("warning LD109 cart: the minimum of the retry budget (floor) does not count"));
}

TEST_F(SidecarChecks, EachLimitThatWasReachedIsWarnedOf) {
  (*facts_.state.mutable_sidecar()->mutable_limit_hits())["connections"] = 3;
  EXPECT_THAT(Found(), HasSubstr("warning LD110 a limit was reached: connections 3 times"));
}

TEST_F(SidecarChecks, LimitsThatTheContainerHasNoMemoryForAreWarnedOf) {
  facts_.memory = int64_t{128} << 20;
  EXPECT_EQ(Found(), "");  // The defaults give way.
  Configure(std::string(kConfig) + "limits: {replay_bytes: 64MiB}\n");
  EXPECT_THAT(Found(), HasSubstr("warning LD111 limits that are not the defaults take up to 88 MiB "
                                 "with the sidecar itself; calls end from 77 MiB on, in a "
                                 "container of 128 MiB"));
  facts_.memory = 0;
  EXPECT_THAT(Found("LD111"), HasSubstr("ok      LD111 memory is not judged"));
}

TEST_F(SidecarChecks, MoreConnectionsThanDescriptorsAreWarnedOf) {
  Configure(std::string(kConfig) + "limits: {connections: 5000}\n");
  facts_.descriptors = 896;
  EXPECT_THAT(Found(), HasSubstr("warning LD112 896 file descriptors for callers, 5000 connections "
                                 "allowed"));
}

TEST_F(SidecarChecks, ClocksThatDifferAreWarnedOf) {
  facts_.state.set_time(1'767'225'590);
  EXPECT_THAT(Found(), HasSubstr("warning LD113 its clock and the one here differ by 10s"));
}

TEST_F(SidecarChecks, WarningsOfThePolicyKeepTheirOrder) {
  facts_.state.mutable_configuration()->add_warnings("b.yaml:1:1: LV902 warning: x");
  facts_.state.mutable_configuration()->add_warnings("a.yaml:2:1: LV901 warning: y");
  const std::string found = Found();
  EXPECT_LT(found.find("warning LD114 b.yaml:1:1: LV902"),
            found.find("warning LD114 a.yaml:2:1: LV901"));
}

TEST_F(SidecarChecks, CallersThatSufferAreAFault) {
  cart_->set_severity(admin::v1::Upstream::SEVERITY_ALARM);
  cart_->set_verdict("callers 31% OK");
  EXPECT_THAT(Found(), HasSubstr("fault   LD115 cart: callers 31% OK; "));
}

TEST_F(SidecarChecks, AGuardWhoseSlotsStreamsHoldIsNamed) {
  admin::v1::Guard& guard = *cart_->mutable_guard();
  guard.set_limit(20);
  guard.set_streams(9);
  EXPECT_EQ(Found("LD117"), "ok      LD117 no guard is full of streams\n");
  guard.set_streams(18);
  EXPECT_THAT(Found(),
              HasSubstr("warning LD117 cart: streams hold 18 of the 20 slots of its guard"));
}

TEST_F(SidecarChecks, EachHandshakeThatFailsIsAFaultWithItsOwnCodeAndCure) {
  const std::vector<std::pair<tls::Result, std::string>> failures = {
      {tls::Result::kExpired, "LD121 cart: cart:1: why; renew the service's certificate"},
      {tls::Result::kNotYetValid, "LD122 cart: cart:1: why; set the clocks of both by NTP"},
      {tls::Result::kWrongName, "LD123 cart: cart:1: why; set tls.server_name of the upstream"},
      {tls::Result::kUnknownCa, "LD124 cart: cart:1: why; let tls.ca of the upstream name the CA"},
      {tls::Result::kNoAlpn, "LD125 cart: cart:1: why; let the service speak HTTP/2 over TLS"},
      {tls::Result::kVersion, "LD126 cart: cart:1: why; let the service speak TLS 1.3"},
      {tls::Result::kCertificateRequired,
       "LD127 cart: cart:1: why; give the upstream tls.certificate and tls.key"},
      {tls::Result::kCertificateRefused,
       "LD128 cart: cart:1: why; set tls.certificate of the upstream to a valid certificate"},
      {tls::Result::kTimeout, "LD129 cart: cart:1: why; see that the port is the one for TLS"},
      {tls::Result::kReset, "LD129 cart: cart:1: why; see that the port is the one for TLS"},
      {tls::Result::kOther, "LD129 cart: cart:1: why; see that the port is the one for TLS"},
  };
  ASSERT_EQ(failures.size() + 1, tls::kResults);  // All but kSuccess.
  for (const auto& [result, line] : failures) {
    facts_.handshakes = {{"cart", "cart:0", tls::Result::kSuccess, ""},
                         {"cart", "cart:1", result, "why"}};
    EXPECT_THAT(Found(), testing::StartsWith("fault   " + line));
    EXPECT_EQ(Found("LD116"), "");
  }
  EXPECT_EQ(WorstOf(CheckSidecar(facts_)), Severity::kFault);
}

TEST_F(SidecarChecks, HandshakesAreJudgedOnlyWhereTheyCanBeMade) {
  EXPECT_THAT(Found("LD116"), HasSubstr("there is no endpoint to make a TLS handshake with"));
  facts_.handshakes = {{"cart", "cart:1", tls::Result::kSuccess, ""},
                       {"cart", "cart:2", tls::Result::kSuccess, ""}};
  EXPECT_EQ(Found("LD116"), "ok      LD116 TLS is as it is configured at 2 endpoints\n");
  facts_.handshakes[1] = {"cart", "cart:2", std::nullopt, "connection refused"};
  EXPECT_EQ(
      Found(),
      "warning LD116 cart: cart:2: no TLS handshake, because there is no connection: connection "
      "refused; see that the endpoint is reached from here\n");
  facts_.handshakes.clear();
  facts_.here = false;
  EXPECT_THAT(Found("LD116"), HasSubstr("ok      LD116 TLS handshakes are not judged"));
}

TEST(Findings, AreJsonForPrograms) {
  EXPECT_EQ(FindingsJson({{Severity::kFault, "LD107", "a \"b\"", "c"}}, false),
            "{\"ok\": false, \"checks\": [{\"severity\": \"fault\", \"code\": \"LD107\", \"text\": "
            "\"a \\\"b\\\"\", \"cure\": \"c\"}]}");
  EXPECT_EQ(FindingsJson({}, true), "{\"ok\": true, \"checks\": []}");
}

TEST(Findings, HaveNoControlCharactersOfPeers) {
  EXPECT_EQ(FindingsText({{Severity::kOk, "LD107", "a\x1b[2J\nb", ""}}), "ok      LD107 a [2J b\n");
}

}  // namespace
}  // namespace levee::doctor
