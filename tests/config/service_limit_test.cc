// SPDX-License-Identifier: Apache-2.0
// Rate limits that a rate limit service keeps.
#include <string>

#include "absl/time/time.h"
#include "config/faults_of.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace levee {
namespace {

using testing::HasSubstr;

constexpr char kRls[] = "scope: rls, key: [method], rls: {address: \"r:8081\", domain: shop}";

TEST(ServiceLimit, EveryFieldArrives) {
  const RateLimitPolicy limit = RateLimitOf(
      "scope: rls, key: [method, \"tenant=header:X-Tenant\", \"tier=text:a=b\"], max_keys: 7, rls: "
      "{address: \"[::1]:8081\", domain: shop, timeout: 30ms, on_failure: deny, lease: 50ms}");
  EXPECT_EQ(limit.key, (std::vector{RateLimitKey::Method(),
                                    RateLimitKey::Named("tenant", RateLimitKey::Header("x-tenant")),
                                    RateLimitKey::Named("tier", RateLimitKey::Text("a=b"))}));
  EXPECT_EQ(limit.max_keys, 7);
  ASSERT_TRUE(limit.shared.has_value());
  EXPECT_EQ(*limit.shared, (SharedRate{.name = "default/a",
                                       .service = RateService{.host = "::1",
                                                              .port = 8081,
                                                              .domain = "shop",
                                                              .lease = absl::Milliseconds(50)},
                                       .timeout = absl::Milliseconds(30),
                                       .away = StoreAway::kDeny}));
}

TEST(ServiceLimit, DefaultsAreTheContracts) {
  const RateLimitPolicy limit = RateLimitOf(kRls);
  ASSERT_TRUE(limit.shared.has_value());
  EXPECT_EQ(limit.shared->timeout, absl::Milliseconds(20));
  EXPECT_EQ(limit.shared->away, StoreAway::kAllow);
  EXPECT_EQ(limit.shared->service->lease, absl::Milliseconds(100));
  EXPECT_EQ(limit.max_wait, absl::ZeroDuration());
}

TEST(ServiceLimit, APartOfAKeyGivesItsEntryANameAndAText) {
  const RateLimitKey header = RateLimitKey::Named("t", RateLimitKey::Header("x"));
  EXPECT_EQ(header.name(), "t=header:x");
  EXPECT_EQ(header.entry(), "t");
  EXPECT_EQ(header.header(), "x");
  const RateLimitKey text = RateLimitKey::Named("t", RateLimitKey::Text("y=z"));
  EXPECT_EQ(text.name(), "t=text:y=z");
  EXPECT_EQ(text.text(), "y=z");
  EXPECT_EQ(RateLimitKey::Header("x").entry(), "header:x");
}

TEST(ServiceLimit, WhatIsNoPartOfAKeyIsAFault) {
  const auto faults = [](const std::string& part) {
    return RateLimitFaults("scope: rls, rls: {address: \"r:8081\", domain: shop}, key: [\"" + part +
                           "\"]");
  };
  EXPECT_THAT(faults("=method"),
              HasSubstr("LV215 policies[0].rate_limit[0].key[0]: \"=method\" has "
                        "no name for its entry"));
  EXPECT_THAT(faults("a b=method"), HasSubstr("has no name for its entry"));
  EXPECT_THAT(faults("a=b"), HasSubstr("\"b\" does not tell calls apart"));
  EXPECT_THAT(faults("a=text:"), HasSubstr("has an empty text"));
  EXPECT_THAT(faults("text:a"), HasSubstr("is the same for all calls; say ENTRY=text:TEXT"));
}

TEST(ServiceLimit, NeedsItsServiceAndAKey) {
  EXPECT_THAT(RateLimitFaults("scope: rls, rate: 1/s, key: [method]"),
              HasSubstr("f:2:8: LV327 policies[0].rate_limit[0].scope: is rls, but"));
  EXPECT_THAT(RateLimitFaults("scope: rls, key: [method], rls: {domain: shop}"),
              HasSubstr("LV110 policies[0].rate_limit[0].rls.address: is missing"));
  EXPECT_THAT(RateLimitFaults("scope: rls, key: [method], rls: {address: \"r:1\"}"),
              HasSubstr("LV110 policies[0].rate_limit[0].rls.domain: is missing"));
  EXPECT_EQ(RateLimitFaults("scope: rls, key: [method], rls: {domain: shop, address: r}"),
            "f:2:57: LV327 policies[0].rate_limit[0].rls.address: \"r\" is not HOST:PORT, such as "
            "ratelimit.shop:8081");
  EXPECT_EQ(RateLimitFaults("scope: rls, rls: {domain: shop, address: \"r:1\"}"),
            "f:2:13: LV327 policies[0].rate_limit[0].rls: has no key, by which the service finds "
            "the limit; give one, such as [\"generic_key=text:paid\"]");
}

TEST(ServiceLimit, WhatOnlyTheServiceKnowsIsNotGiven) {
  for (const char* field : {"rate: 1/s", "burst: 2", "max_wait: 1s", "adaptive: true", "store: s",
                            "on_failure: allow", "grace: 1s"}) {
    const std::string name = std::string(field).substr(0, std::string(field).find(':'));
    EXPECT_THAT(RateLimitFaults(std::string(kRls) + ", " + field),
                HasSubstr("rls: excludes " + name))
        << field;
  }
}

TEST(ServiceLimit, OnlyOneOfItsScopeIsAsked) {
  EXPECT_THAT(RateLimitFaults("key: [method], rls: {address: \"r:1\", domain: shop}"),
              HasSubstr("LV327 policies[0].rate_limit[0].rls: is not used"));
  EXPECT_THAT(
      RateLimitFaults("scope: global, key: [method], rls: {address: \"r:1\", domain: shop}"),
      HasSubstr("LV327 policies[0].rate_limit[0].rls: is not used"));
}

TEST(ServiceLimit, NobodyElseReadsTheNamesOfEntries) {
  EXPECT_EQ(RateLimitFaults("rate: 1/s, key: [\"a=method\"]"),
            "f:2:18: LV327 policies[0].rate_limit[0].key[0]: names an entry, which only rate limit "
            "services read; say method");
  EXPECT_THAT(RateLimitFaults("rate: 1/s, key: [\"a=text:b\"]"),
              HasSubstr("which only rate limit services read; leave it out"));
  EXPECT_THAT(FaultsOf("listeners: [{name: in, address: \"127.0.0.1:1\", direction: inbound}]\n"
                       "policies: [{name: default, guard: {dedupe: {scope: [\"a=method\"]}}}]\n"),
              HasSubstr("LV327 policies[0].guard.dedupe.scope[0]: names an entry"));
}

TEST(ServiceLimit, BoundsHold) {
  const auto faults = [](const std::string& field) {
    return RateLimitFaults("scope: rls, key: [method], rls: {address: \"r:1\", domain: shop, " +
                           field + "}");
  };
  EXPECT_EQ(faults("lease: 10ms, timeout: 1ms"), "");
  EXPECT_THAT(faults("lease: 9ms"), HasSubstr("LV201 policies[0].rate_limit[0].rls.lease"));
  EXPECT_THAT(faults("lease: 11s"), HasSubstr("LV201 policies[0].rate_limit[0].rls.lease"));
  EXPECT_THAT(faults("timeout: 11s"), HasSubstr("LV201 policies[0].rate_limit[0].rls.timeout"));
  EXPECT_THAT(faults("on_failure: last"), HasSubstr("rls.on_failure"));
}

}  // namespace
}  // namespace levee
