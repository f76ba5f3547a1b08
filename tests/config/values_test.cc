// SPDX-License-Identifier: Apache-2.0
#include "config/values.h"

#include <string>

#include "gtest/gtest.h"

namespace levee {
namespace {

using config::v1::FieldRule;

std::string Canonical(FieldRule::Kind kind, const std::string& text) {
  const absl::StatusOr<ParsedText> parsed = ParseText(kind, text);
  return parsed.ok() ? parsed->canonical : std::string(parsed.status().message());
}

TEST(Values, Durations) {
  EXPECT_EQ(ParseDuration("250ms").value(), absl::Milliseconds(250));
  EXPECT_EQ(ParseDuration("1m30s").value(), absl::Seconds(90));
  EXPECT_EQ(ParseDuration("51.2us").value(), absl::Nanoseconds(51200));
  EXPECT_EQ(ParseDuration("0s").value(), absl::ZeroDuration());
  EXPECT_EQ(ParseDuration("-1s").value(), absl::Seconds(-1));
  EXPECT_EQ(ParseDuration("8760h").value(), absl::Hours(8760));
  for (const char* text : {"", "s", "inf", "-inf", "1d", "1 s", " 1s", "1s ", "1e3s", "none", "nan",
                           "250", "0", "8760h1ns"}) {
    EXPECT_FALSE(ParseDuration(text).ok()) << text;
  }
}

TEST(Values, CanonicalDurationsCanBeReadBack) {
  for (const char* text :
       {"0s", "0ms", "1ns", "250ms", "60s", "15m", "8760h", "102.4s", "51.2us"}) {
    const std::string canonical = Canonical(FieldRule::DURATION, text);
    EXPECT_EQ(ParseDuration(canonical).value(), ParseDuration(text).value()) << text;
  }
  EXPECT_EQ(Canonical(FieldRule::DURATION, "1000ms"), "1s");
  EXPECT_EQ(Canonical(FieldRule::DURATION, "0ms"), "0s");
}

TEST(Values, Sizes) {
  EXPECT_EQ(ParseSize("0B").value(), 0);
  EXPECT_EQ(ParseSize("64KiB").value(), 65536);
  EXPECT_EQ(ParseSize("3MiB").value(), 3 << 20);
  EXPECT_EQ(ParseSize("1GiB").value(), 1 << 30);
  EXPECT_EQ(ParseSize("9999999999GiB").status().message(), "\"9999999999GiB\" is too large");
  for (const char* text : {"", "KiB", "-1B", "1.5MiB", "64", "64K", "64kib", "1 B", "1B "}) {
    EXPECT_FALSE(ParseSize(text).ok()) << text;
  }
  EXPECT_EQ(Canonical(FieldRule::SIZE, "65536B"), "64KiB");
  EXPECT_EQ(Canonical(FieldRule::SIZE, "65537B"), "65537B");
  EXPECT_EQ(Canonical(FieldRule::SIZE, "0KiB"), "0B");
}

TEST(Values, HttpStatuses) {
  for (const char* text : {"100", "429", "5xx", "599"}) {
    EXPECT_EQ(Canonical(FieldRule::HTTP_STATUS, text), text);
  }
  for (const char* text : {"", "99", "600", "0xx", "42x", "5XX", "1000"}) {
    EXPECT_FALSE(ParseText(FieldRule::HTTP_STATUS, text).ok()) << text;
  }
}

TEST(Values, Percentiles) {
  EXPECT_EQ(ParsePercentile("p1").value(), 0.01);
  EXPECT_EQ(ParsePercentile("p50").value(), 0.5);
  EXPECT_EQ(ParsePercentile("p95").value(), 0.95);
  EXPECT_EQ(ParsePercentile("p99").value(), 0.99);
  EXPECT_EQ(ParsePercentile("p99.9").value(), 0.999);
  for (const char* text : {"", "p", "p0", "p0.9", "p100", "p99.99", "p9.", "p.5", "p-1", "p1e1",
                           "P95", "95", "p 95", "p95%", "p1.2.3"}) {
    EXPECT_FALSE(ParsePercentile(text).ok()) << text;
  }
}

TEST(Values, DurationsOrPercentiles) {
  EXPECT_EQ(Canonical(FieldRule::DURATION_OR_PERCENTILE, "1000ms"), "1s");
  EXPECT_EQ(Canonical(FieldRule::DURATION_OR_PERCENTILE, "p95"), "p95");
  EXPECT_EQ(Canonical(FieldRule::DURATION_OR_PERCENTILE, "p95.0"), "p95");
  EXPECT_EQ(Canonical(FieldRule::DURATION_OR_PERCENTILE, "p99.9"), "p99.9");
}

TEST(Values, Globs) {
  for (const char* text : {"*", "/*", "*/Get", "/shop.Cart/*"}) {
    EXPECT_EQ(Canonical(FieldRule::METHOD_GLOB, text), text);
  }
  for (const char* text : {"", "shop.Cart/*", "/shop Cart/*", "/caf\xc3\xa9/*", "/\xff"}) {
    EXPECT_FALSE(ParseText(FieldRule::METHOD_GLOB, text).ok()) << text;
  }
  for (const char* text : {"*", "cart.shop:*", "[::1]:*"}) {
    EXPECT_EQ(Canonical(FieldRule::AUTHORITY_GLOB, text), text);
  }
  for (const char* text : {"", "http://cart", "cart shop", "\xff"}) {
    EXPECT_FALSE(ParseText(FieldRule::AUTHORITY_GLOB, text).ok()) << text;
  }
}

TEST(Values, LongTextsAreCut) {
  const std::string message(ParseSize(std::string(1000, 'x')).status().message());
  EXPECT_TRUE(message.starts_with("\"" + std::string(80, 'x') + "...\" is not a size;")) << message;
}

}  // namespace
}  // namespace levee
