// SPDX-License-Identifier: Apache-2.0
// The relations between fields.
#include "config/validate.h"

#include <string>

#include "config/faults_of.h"
#include "gtest/gtest.h"

namespace levee {
namespace {

TEST(Validate, DanglingReferencesSuggestTheNearestName) {
  EXPECT_EQ(
      FaultsOf("upstreams:\n"
               "  - {name: cart, endpoints: [10.0.0.1:1]}\n"
               "  - {name: payments, endpoints: [10.0.0.2:1]}\n"
               "routes:\n"
               "  - {upstream: crat, policy: pateint}\n"
               "  - {upstream: elsewhere, policy: default}\n"
               "policies: [{name: patient}]\n"),
      "f:5:16: LV301 routes[0].upstream: there is no upstream named \"crat\"; did you mean cart?\n"
      "f:5:30: LV301 routes[0].policy: there is no policy named \"pateint\"; did you mean "
      "patient?\n"
      "f:6:16: LV301 routes[1].upstream: there is no upstream named \"elsewhere\"; there are: "
      "cart, payments");
}

TEST(Validate, BuiltInRouteNeedsItsUpstream) {
  EXPECT_EQ(
      FaultsOf("upstreams:\n  - {name: cart, endpoints: [10.0.0.1:1]}\n"),
      "f:1:1: LV302 upstreams: none is named \"anywhere\", where the built-in route sends every "
      "call; add routes, or an upstream of that name");
}

TEST(Validate, AHeaderBlockHoldsTheMetadata) {
  EXPECT_EQ(FaultsOf("limits: {metadata_bytes: 128KiB, header_block_bytes: 64KiB}\n"),
            "f:1:54: LV314 limits.header_block_bytes: 64KiB is below metadata_bytes, 128KiB; it "
            "must be at least that");
  EXPECT_EQ(FaultsOf("limits: {metadata_bytes: 64KiB, header_block_bytes: 64KiB}\n"), "");
  EXPECT_EQ(FaultsOf("limits: {header_block_bytes: 15KiB}\n"), "");
  EXPECT_EQ(FaultsOf("limits: {metadata_bytes: 128KiB}\n"), "");
}

TEST(Validate, AuthorityStandsAlone) {
  EXPECT_EQ(
      FaultsOf("upstreams:\n"
               "  - {name: anywhere, endpoints: [10.0.0.1:1, \"authority:\"]}\n"),
      "f:2:46: LV308 upstreams[0].endpoints[1]: \"authority:\" stands beside other endpoints; it "
      "must be the only one");
}

TEST(Validate, OriginalStandsAlone) {
  EXPECT_EQ(
      FaultsOf("upstreams:\n"
               "  - {name: anywhere, endpoints: [\"original:\", 10.0.0.1:1]}\n"),
      "f:2:34: LV308 upstreams[0].endpoints[0]: \"original:\" stands beside other endpoints; it "
      "must be the only one");
}

TEST(Validate, OriginalDestinationsAreOfConnectionsThatCanBeRedirected) {
  const auto listener = [](const std::string& fields) {
    return FaultsOf("listeners: [{name: a, capture: [h2c, original_dst],\n   " + fields + "}]\n" +
                    "upstreams: [{name: app, endpoints: [\"10.0.0.7:1\"]}]\n" +
                    "routes: [{match: {listener: a}, upstream: app}]\n");
  };
  EXPECT_EQ(listener("address: \"127.0.0.1:9470\""), "");
  const std::string at = "f:1:38: LV330 listeners[0].capture[1]: ";
  EXPECT_EQ(listener("address: \"unix:/run/a.sock\""),
            at + "no connection is redirected to a Unix socket; listen on 127.0.0.1");
  EXPECT_THAT(listener("address: \"127.0.0.1:9470\", direction: inbound"),
              testing::HasSubstr(at + "only the application's own connections are redirected; give "
                                      "it to an egress listener"));
  EXPECT_THAT(listener("address: \"127.0.0.1:9470\", tls: {certificate: /a, key: /a}"),
              testing::HasSubstr(at + "original_dst passes TLS on untouched, and this listener "
                                      "would end it; leave out tls"));
}

TEST(Validate, UpstreamMayNotBeNamedNone) {
  EXPECT_EQ(
      FaultsOf("upstreams: [{name: none, endpoints: [10.0.0.1:1]}]\n"
               "routes: [{upstream: none}]\n"),
      "f:1:20: LV218 upstreams[0].name: \"none\" is what metrics call a call without upstream; "
      "choose another");
}

TEST(Validate, MaxIsAtLeastInitial) {
  EXPECT_EQ(
      FaultsOf("policies:\n"
               "  - name: default\n"
               "    retry: {backoff: {initial: 2s, max: 1999ms}}\n"),
      "f:3:41: LV306 policies[0].retry.backoff.max: 1.999s is below initial, 2s; it must be at "
      "least that");
  EXPECT_EQ(
      FaultsOf("policies:\n"
               "  - name: default\n"
               "    retry: {backoff: {initial: 2s}}\n"),
      "f:3:32: LV306 policies[0].retry.backoff.initial: 2s is above max, 1s (the default); it must "
      "be at most that");
  EXPECT_EQ(FaultsOf("upstreams:\n"
                     "  - name: anywhere\n"
                     "    endpoints: [\"authority:\"]\n"
                     "    reconnect: {max: 50ms}\n"),
            "f:4:22: LV306 upstreams[0].reconnect.max: 50ms is below initial, 100ms (the default); "
            "it must "
            "be at least that");
  EXPECT_EQ(FaultsOf("policies: [{name: default, retry: {backoff: {initial: 1s, max: 1s}}}]\n"),
            "");
}

TEST(Validate, AddressesAreUsedOnce) {
  EXPECT_EQ(FaultsOf("listeners:\n"
                     "  - {name: a, address: 127.0.0.1:9460}\n"
                     "  - {name: b, address: localhost:9460}\n"),
            "f:3:24: LV307 listeners[1].address: \"localhost:9460\" is used twice; the other is "
            "f:2:24: listeners[0].address");
  EXPECT_EQ(
      FaultsOf("listeners: [{name: a, address: \"127.0.0.1:9461\"}]\n"),
      "f:1:32: LV307 listeners[0].address: \"127.0.0.1:9461\" is used twice; the other is built-in "
      "default: metrics.address");
  EXPECT_EQ(
      FaultsOf("metrics: {address: \"127.0.0.1:9460\"}\n"),
      "f:1:20: LV307 metrics.address: \"127.0.0.1:9460\" is used twice; the other is built-in "
      "default: listeners[0].address");
  EXPECT_EQ(FaultsOf("listeners: [{name: a, address: \"127.0.0.1:0\"}]\n"
                     "metrics: {address: \"127.0.0.1:0\"}\n"),
            "");
}

TEST(Validate, AListenerOnLocalhostHasTheSocketsOfBothFamilies) {
  EXPECT_EQ(FaultsOf("listeners:\n"
                     "  - {name: a, address: \"localhost:9440\"}\n"
                     "  - {name: b, address: \"[::1]:9440\"}\n"),
            "f:3:24: LV307 listeners[1].address: \"[::1]:9440\" is used twice; the other is "
            "f:2:24: listeners[0].address");
  EXPECT_EQ(FaultsOf("listeners:\n"
                     "  - {name: a, address: \"[0:0::1]:9440\"}\n"
                     "  - {name: b, address: \"localhost:9440\"}\n"),
            "f:3:24: LV307 listeners[1].address: \"localhost:9440\" is used twice; the other is "
            "f:2:24: listeners[0].address");
  // Metrics are on IPv4 alone.
  EXPECT_EQ(FaultsOf("listeners: [{name: a, address: \"[::1]:9440\"}]\n"
                     "metrics: {address: \"localhost:9440\"}\n"),
            "");
}

TEST(Validate, ASocketOfAllAddressesExcludesOthersOfItsPort) {
  EXPECT_EQ(FaultsOf("listeners:\n"
                     "  - {name: a, address: 127.0.0.1:9440}\n"
                     "  - {name: b, address: 0.0.0.0:9440}\n"),
            "f:3:24: LV307 listeners[1].address: \"0.0.0.0:9440\" has the same port as "
            "\"127.0.0.1:9440\"; the other is f:2:24: listeners[0].address");
  EXPECT_EQ(FaultsOf("listeners:\n"
                     "  - {name: a, address: \"[::]:9440\"}\n"
                     "  - {name: b, address: 10.0.0.7:9440}\n"),
            "f:3:24: LV307 listeners[1].address: \"10.0.0.7:9440\" has the same port as "
            "\"[::]:9440\"; the other is f:2:24: listeners[0].address");
  EXPECT_EQ(FaultsOf("listeners:\n"
                     "  - {name: a, address: 0.0.0.0:9440}\n"
                     "  - {name: b, address: \"[::1]:9440\"}\n"
                     "  - {name: c, address: 0.0.0.0:9441}\n"),
            "");
}

TEST(Validate, AddressesOfTheAdminServersAreUsedOnceToo) {
  EXPECT_EQ(FaultsOf("admin: {address: 127.0.0.1:1, grpc_address: 127.0.0.1:1}\n"),
            "f:1:45: LV307 admin.grpc_address: \"127.0.0.1:1\" is used twice; the other is f:1:18: "
            "admin.address");
  EXPECT_EQ(
      FaultsOf("metrics: {address: 127.0.0.1:9462}\n"),
      "f:1:20: LV307 metrics.address: \"127.0.0.1:9462\" is used twice; the other is built-in "
      "default: admin.address");
  EXPECT_EQ(
      FaultsOf("admin: {grpc_address: 127.0.0.1:9460}\n"),
      "f:1:23: LV307 admin.grpc_address: \"127.0.0.1:9460\" is used twice; the other is built-in "
      "default: listeners[0].address");
  EXPECT_EQ(FaultsOf("admin: {address: none, grpc_address: none}\nmetrics: {address: none}\n"), "");
}

TEST(Validate, EveryPortMayBeServedOverIpv6) {
  EXPECT_EQ(FaultsOf("metrics: {address: \"[::1]:9461\"}\nadmin: {address: \"[::]:9462\"}\n"), "");
  EXPECT_EQ(FaultsOf("listeners: [{name: a, address: \"[::1]:9460\"}]\n"
                     "admin: {address: none, grpc_address: \"[::1]:9463\"}\n"),
            "");
}

TEST(Validate, IsDoneBesideOtherFaults) {
  EXPECT_EQ(
      FaultsOf("drain: {timeout: 1}\nroutes: [{upstream: anywhere, policy: patient}]\n"),
      "f:1:18: LV204 drain.timeout: \"1\" has no unit; say 1ms or 1s\n"
      "f:2:39: LV301 routes[0].policy: there is no policy named \"patient\"; there are: default");
}

}  // namespace
}  // namespace levee
