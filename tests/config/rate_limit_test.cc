// SPDX-License-Identifier: Apache-2.0
// Rate limits: rates, keys, and what contradicts itself.
#include "absl/time/time.h"
#include "config/faults_of.h"
#include "config/rate_limit_text.h"
#include "gtest/gtest.h"

namespace levee {
namespace {

std::string Canonical(const std::string& rate) { return FormatRate(ParseRate(rate).value()); }

TEST(RateLimit, EveryFieldArrives) {
  const RateLimitPolicy limit = RateLimitOf(
      "rate: 100/s, burst: 20, key: [method, authority, \"header:X-Tenant\"], max_wait: 200ms, "
      "max_keys: 50, adaptive: true");
  EXPECT_EQ(limit.name, "a");
  EXPECT_EQ(limit.per_second, 100);
  EXPECT_EQ(limit.burst, 20);
  EXPECT_EQ(limit.key, (std::vector{RateLimitKey::Method(), RateLimitKey::Authority(),
                                    RateLimitKey::Header("x-tenant")}));
  EXPECT_EQ(limit.max_wait, absl::Milliseconds(200));
  EXPECT_EQ(limit.max_keys, 50);
  EXPECT_TRUE(limit.adaptive);
}

TEST(RateLimit, DefaultsAreTheContracts) {
  const RateLimitPolicy limit = RateLimitOf("rate: 1/s, key: [method]");
  EXPECT_EQ(limit.burst, 1);
  EXPECT_EQ(limit.max_wait, absl::ZeroDuration());
  EXPECT_EQ(limit.max_keys, 10'000);
  EXPECT_FALSE(limit.adaptive);
  EXPECT_TRUE(RateLimitOf("rate: 1/s").key.empty());
  EXPECT_EQ(RateLimitOf("rate: 1/s, max_wait: none").max_wait, absl::ZeroDuration());
}

TEST(RateLimit, SeveralKeepTheirOrder) {
  const CallPolicy policy = PolicyOf("rate_limit: [{name: b, rate: 1/s}, {name: a, rate: 2/s}]");
  ASSERT_EQ(policy.rate_limits.size(), 2u);
  EXPECT_EQ(policy.rate_limits[0].name, "b");
  EXPECT_EQ(policy.rate_limits[1].name, "a");
}

TEST(RateLimit, RatesArePerSecondMinuteOrHour) {
  EXPECT_EQ(ParseRate("100/s").value().per_second(), 100);
  EXPECT_EQ(ParseRate("90/m").value().per_second(), 1.5);
  EXPECT_EQ(ParseRate("36/h").value().per_second(), 0.01);
  EXPECT_EQ(ParseRate("0.5/s").value().per_second(), 0.5);
  for (const char* text : {"", "100", "/s", "100/d", "inf/s", "nan/s", "100/s/s", "100 /s",
                           "100/ s", "1e3/s", "+1/s", "0x10/s", "1.2.3/s"}) {
    EXPECT_FALSE(ParseRate(text).ok()) << text;
  }
}

TEST(RateLimit, OneSpellingOfOneRate) {
  EXPECT_EQ(Canonical("100/s"), "100/s");
  EXPECT_EQ(Canonical("60/m"), "1/s");
  EXPECT_EQ(Canonical("3600000000000/h"), "1000000000/s");
  EXPECT_EQ(Canonical("100/m"), "100/m");
  EXPECT_EQ(Canonical("1.5/s"), "90/m");
  EXPECT_EQ(Canonical("36/h"), "36/h");
  EXPECT_EQ(Canonical("0.001/s"), "3.6/h");
}

TEST(RateLimit, ARateThatIsWrittenIsReadAsTheSame) {
  EXPECT_EQ(Canonical("0.00001/h"), "0.00001/h");
  EXPECT_EQ(Canonical("0.0000000001/m"), "0.000000006/h");
  EXPECT_EQ(Canonical("0.016666666666666668/s"), "1/m");
  for (const char* rate :
       {"60.000000000000007/h", "0.016666666666666668/s", "0.1/h", "123456.789012345678/m",
        "999999999.87654321/s", "0.00000000000000000000012345678901234567/s"}) {
    const std::string once = Canonical(rate);
    ASSERT_TRUE(ParseRate(once).ok()) << once;
    EXPECT_EQ(Canonical(once), once);
    EXPECT_NEAR(ParseRate(once)->per_second() / ParseRate(rate)->per_second(), 1, 1e-14) << once;
  }
  EXPECT_EQ(ParseRate("0." + std::string(320, '0') + "1/s")->count, 0);
}

TEST(RateLimit, RatesAreBounded) {
  EXPECT_EQ(RateLimitFaults("rate: 0/s"),
            "f:2:7: LV201 policies[0].rate_limit[0].rate: 0/s is too small; it must be above 0/s");
  EXPECT_EQ(RateLimitFaults("rate: -5/m"),
            "f:2:7: LV201 policies[0].rate_limit[0].rate: -5/m is too small; it must be above 0/s");
  EXPECT_EQ(
      RateLimitFaults("rate: 1000000001/s"),
      "f:2:7: LV201 policies[0].rate_limit[0].rate: 1000000001/s is too large; it must be at most "
      "1000000000/s");
  EXPECT_EQ(RateLimitFaults("rate: 1000000000/s"), "");
  EXPECT_EQ(RateLimitFaults("rate: 100"),
            "f:2:7: LV208 policies[0].rate_limit[0].rate: \"100\" is not a rate; say 100/s, 100/m "
            "or 100/h");
  EXPECT_EQ(RateLimitFaults("burst: 5"),
            "f:1:41: LV110 policies[0].rate_limit[0].rate: is missing; it must be given");
}

TEST(RateLimit, BurstsAreBounded) {
  EXPECT_EQ(RateLimitFaults("rate: 1/s, burst: 0"),
            "f:2:19: LV201 policies[0].rate_limit[0].burst: 0 is too small; it must be at least 1");
  EXPECT_EQ(RateLimitFaults("rate: 1/h, burst: 8760"), "");
  EXPECT_EQ(
      RateLimitFaults("rate: 1/h, burst: 8761"),
      "f:2:7: LV313 policies[0].rate_limit[0].rate: 1/h takes more than 8760h for a burst of 8761; "
      "raise it or lower burst");
}

TEST(RateLimit, WaitsAndKeysAreBounded) {
  EXPECT_EQ(RateLimitFaults("rate: 1/s, max_wait: 0s"),
            "f:2:22: LV201 policies[0].rate_limit[0].max_wait: 0s is too small; it must be above "
            "0s, or none");
  EXPECT_EQ(
      RateLimitFaults("rate: 1/s, key: [method], max_keys: 0"),
      "f:2:37: LV201 policies[0].rate_limit[0].max_keys: 0 is too small; it must be at least 1");
}

TEST(RateLimit, MaxKeysNeedsAKey) {
  EXPECT_EQ(
      RateLimitFaults("rate: 1/s, max_keys: 5"),
      "f:2:22: LV305 policies[0].rate_limit[0].max_keys: has no effect without key: there is but "
      "one bucket; give key as well, or leave it out");
  EXPECT_EQ(
      RateLimitFaults("rate: 1/s, key: [], max_keys: 5"),
      "f:2:31: LV305 policies[0].rate_limit[0].max_keys: has no effect without key: there is but "
      "one bucket; give key as well, or leave it out");
}

TEST(RateLimit, UnknownKeysSuggestWhatIsMeant) {
  EXPECT_EQ(
      RateLimitFaults("rate: 1/s, key: [mehtod, x-tenant]"),
      "f:2:18: LV215 policies[0].rate_limit[0].key[0]: \"mehtod\" does not tell calls apart; did "
      "you "
      "mean method?\n"
      "f:2:26: LV215 policies[0].rate_limit[0].key[1]: \"x-tenant\" does not tell calls apart; "
      "allowed: method, authority, peer, header:NAME");
}

TEST(RateLimit, HeadersOfKeysAreHeaders) {
  EXPECT_EQ(RateLimitFaults("rate: 1/s, key: [\"header:\", \"header::path\"]"),
            "f:2:18: LV215 policies[0].rate_limit[0].key[0]: \"\" is not the name of a header; a "
            "name has 1 to 128 "
            "letters, digits, '-', '_' and '.'\n"
            "f:2:29: LV215 policies[0].rate_limit[0].key[1]: \":path\" is a pseudo-header; name a "
            "header");
  EXPECT_EQ(RateLimitFaults("rate: 1/s, key: [\"header:grpc-timeout\", \"header:token-bin\"]"), "");
}

TEST(RateLimit, PartsOfAKeyAreGivenOnce) {
  EXPECT_EQ(
      RateLimitFaults("rate: 1/s, key: [method, \"header:X-A\", method, \"header:x-a\"]"),
      "f:2:40: LV312 policies[0].rate_limit[0].key[2]: \"method\" is given twice; first at f:2:18\n"
      "f:2:48: LV312 policies[0].rate_limit[0].key[3]: \"header:x-a\" is given twice; first at "
      "f:2:26");
}

TEST(RateLimit, NamesAreGivenOnce) {
  EXPECT_EQ(PolicyFaults("rate_limit: [{name: a, rate: 1/s}, {name: a, rate: 2/s}]"),
            "f:2:43: LV303 policies[0].rate_limit[1].name: \"a\" is given twice; first at f:2:21: "
            "policies[0].rate_limit[0].name");
  EXPECT_EQ(PolicyFaults("rate_limit: [{rate: 1/s}]"),
            "f:2:14: LV110 policies[0].rate_limit[0].name: is missing; it must be given");
}

}  // namespace
}  // namespace levee
