// SPDX-License-Identifier: Apache-2.0
// The receiver of spans.
#include "config/receiver.h"

#include <string>

#include "config/faults_of.h"
#include "config/temporary_folder.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace levee {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string Otlp(const std::string& fields) { return "otlp: {" + fields + "}\n"; }

std::string ReceiverWarnings(const std::string& text) {
  return FormatFaults(CheckConfig({{"f", text}}, std::nullopt).warnings);
}

TEST(Receiver, ThereIsNoneByDefault) { EXPECT_FALSE(SnapshotOf("")->otlp.has_value()); }

TEST(Receiver, EveryFieldArrives) {
  TemporaryFolder folder;
  const std::string headers =
      folder.Write("headers", "# The key.\nAuthorization:  Bearer a:b \r\n\nx-tenant: shop\n");
  const auto snapshot =
      SnapshotOf(Otlp("address: \"https://otel.example:4317\", sample: 0.5, "
                      "headers_file: \"" +
                      headers + "\""));
  EXPECT_EQ(snapshot->otlp,
            (OtlpSpec{.host = "otel.example",
                      .port = 4317,
                      .tls = true,
                      .sample = 0.5,
                      .headers = {{"authorization", "Bearer a:b"}, {"x-tenant", "shop"}}}));
}

TEST(Receiver, TheDefaultsAreThoseOfTheContract) {
  EXPECT_EQ(SnapshotOf(Otlp("address: \"otel:4317\""))->otlp,
            (OtlpSpec{.host = "otel", .port = 4317, .tls = false, .sample = 0.01}));
}

TEST(Receiver, ALaterFileChangesItOrTakesItAway) {
  const std::string first = Otlp("address: \"otel:4317\", sample: 0.5");
  const auto merged = [&](const std::string& second) {
    const CheckedConfig checked = CheckConfig({{"a", first}, {"b", second}}, std::nullopt);
    EXPECT_EQ(FormatFaults(checked.faults), "");
    return checked.snapshot->otlp;
  };
  EXPECT_EQ(merged("otlp: none\n"), std::nullopt);
  EXPECT_EQ(merged(Otlp("address: \"other:1\"")),
            (OtlpSpec{.host = "other", .port = 1, .tls = false, .sample = 0.5}));
}

TEST(Receiver, AnAddressIsAHostAndAPortPerhapsWithAScheme) {
  EXPECT_EQ(ParseReceiver("http://[::1]:4317")->host, "::1");
  EXPECT_FALSE(ParseReceiver("http://otel:4317")->tls);
  EXPECT_TRUE(ParseReceiver("https://10.0.0.1:4317")->tls);
  for (const char* text : {"otel", "https://otel", "http://otel:4317/v1/traces", "grpc://otel:4317",
                           "otel:0", ":4317", "unix:/run/otel"}) {
    EXPECT_FALSE(ParseReceiver(text).has_value()) << text;
  }
  EXPECT_EQ(FaultsOf(Otlp("address: otel")),
            "f:1:17: LV324 otlp.address: \"otel\" is not an address; say HOST:PORT, or "
            "https://HOST:PORT for TLS, without a path, as in otel-collector.monitoring:4317");
}

TEST(Receiver, AShareIsBetweenNothingAndAll) {
  EXPECT_EQ(FaultsOf(Otlp("address: \"otel:4317\", sample: 1.5")),
            "f:1:38: LV201 otlp.sample: 1.5 is too large; it must be at most 1");
}

TEST(Receiver, ALineThatIsNoHeaderIsReportedWithoutItsText) {
  TemporaryFolder folder;
  const auto faults = [&](const std::string& text) {
    const std::string file = folder.Write("headers", text);
    const std::string all =
        FaultsOf(Otlp("address: \"otel:4317\", headers_file: \"" + file + "\""));
    EXPECT_THAT(all, Not(HasSubstr("secret")));
    EXPECT_TRUE(all.empty() || all.starts_with(file + ":")) << all;
    return all.empty() ? "" : all.substr(file.size());
  };
  EXPECT_EQ(faults("a: b\nsecret\n"),
            ":2:1: LV405 otlp.headers_file: has no colon; a line is `name: value`");
  EXPECT_THAT(faults("se cret: a"), HasSubstr(":1:1: LV405"));
  EXPECT_THAT(faults(":secret: a"), HasSubstr("does not begin with the name"));
  EXPECT_THAT(faults("se!cret: a"), HasSubstr("does not begin with the name"));
  EXPECT_THAT(faults("a: secret\xff"), HasSubstr("not printable"));
  EXPECT_THAT(faults("a:\n"), HasSubstr("has no value"));
  for (const char* name : {"grpc-timeout", "content-type", "te", "host", "key-bin", "User-Agent"}) {
    EXPECT_THAT(faults(std::string(name) + ": secret"), HasSubstr("of its own in gRPC")) << name;
  }
  std::string many;
  for (int i = 0; i < 33; ++i) many += "a" + std::to_string(i) + ": secret\n";
  EXPECT_THAT(faults(many), HasSubstr(":33:1: LV405 otlp.headers_file: is one header above 32"));
}

TEST(Receiver, AFileThatCannotBeReadIsAFaultAtItsName) {
  EXPECT_EQ(FaultsOf(Otlp("address: \"otel:4317\",\nheaders_file: /nonexistent/headers")),
            "f:2:15: LV401 otlp.headers_file: /nonexistent/headers: No such file or directory");
  TemporaryFolder folder;
  const std::string large = folder.Write("headers", std::string((64 << 10) + 1, '\n'));
  EXPECT_THAT(FaultsOf(Otlp("address: \"otel:4317\",\nheaders_file: \"" + large + "\"")),
              HasSubstr("LV402"));
}

TEST(Receiver, TheHashFollowsTheHeadersAndNotTheirSpelling) {
  TemporaryFolder folder;
  const auto hash = [&](const std::string& text) {
    const std::string file = folder.Write("headers", text);
    return SnapshotOf(Otlp("address: \"otel:4317\", headers_file: \"" + file + "\""))->sha256;
  };
  EXPECT_NE(hash("key: one\n"), hash("key: two\n"));
  EXPECT_EQ(hash("key: one\n"), hash("# again\nKey:one"));
}

TEST(Receiver, TheEffectiveConfigurationShowsNoHeader) {
  TemporaryFolder folder;
  const std::string file = folder.Write("headers", "key: secret\n");
  const auto snapshot = SnapshotOf(Otlp("address: \"otel:4317\", headers_file: \"" + file + "\""));
  EXPECT_THAT(snapshot->effective.yaml, HasSubstr(file));
  EXPECT_THAT(snapshot->effective.yaml, Not(HasSubstr("secret")));
  EXPECT_THAT(snapshot->effective.json, Not(HasSubstr("secret")));
}

TEST(Receiver, HeadersInClearTextAreWarnedOf) {
  TemporaryFolder folder;
  const std::string file = folder.Write("headers", "key: secret\n");
  const auto warnings = [&](const std::string& address) {
    return ReceiverWarnings(Otlp("address: \"" + address + "\",\nheaders_file: \"" + file + "\""));
  };
  EXPECT_EQ(warnings("otel:4317"),
            "f:2:15: LV932 otlp.headers_file: warning: goes to \"otel:4317\" without TLS, so "
            "others can read it on the way; say https://");
  EXPECT_EQ(warnings("https://otel:4317"), "");
  EXPECT_EQ(warnings("http://127.0.0.1:4317"), "");
  EXPECT_EQ(warnings("localhost:4317"), "");
}

}  // namespace
}  // namespace levee
