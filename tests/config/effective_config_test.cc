// SPDX-License-Identifier: Apache-2.0
// The configuration in effect, as YAML that loads again and as JSON.
#include "config/effective_config.h"

#include <string>

#include "config/faults_of.h"
#include "config/policy_files.h"
#include "config/temporary_folder.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "yaml-cpp/yaml.h"

namespace levee {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string YamlOf(const std::string& text) { return SnapshotOf(text)->effective.yaml; }

std::string JsonOf(const std::string& text) { return SnapshotOf(text)->effective.json; }

// A configuration and what it is written as mean the same, and so does what that is written as.
void ExpectSameWhenReadAgain(const std::string& text) {
  const auto snapshot = SnapshotOf(text);
  const std::string yaml = snapshot->effective.yaml;
  const CheckedConfig again = CheckConfig({{"/elsewhere/again.yaml", yaml}}, std::nullopt);
  ASSERT_NE(again.snapshot, nullptr) << FormatFaults(again.faults) << "\n" << yaml;
  EXPECT_EQ(again.snapshot->sha256, snapshot->sha256) << yaml;
}

TEST(EffectiveYaml, BuiltInDefaultIsSpelledOutAndMarked) {
  const std::string yaml = YamlOf("");
  EXPECT_THAT(yaml, HasSubstr("listeners:\n"
                              "  - name: egress  # default\n"
                              "    address: \"127.0.0.1:9460\"  # default\n"
                              "    direction: egress  # default\n"
                              "    capture: [h2c, connect]  # default\n"
                              "    tls: none  # default\n"
                              "    max_connection_age: none  # default\n"
                              "metrics:\n"));
  EXPECT_THAT(yaml, HasSubstr("      max_attempts: 3  # default\n"));
  EXPECT_THAT(yaml, HasSubstr("        jitter: full  # default\n"));
  EXPECT_THAT(yaml, HasSubstr("    hedge: none  # default\n"));
  EXPECT_THAT(yaml, HasSubstr("    rate_limit: []  # default\n"));
  EXPECT_THAT(yaml, HasSubstr("  otel_names: false  # default\n"));
  EXPECT_THAT(yaml, HasSubstr("    descriptor_set: none  # default\n"));
}

TEST(EffectiveYaml, OnlyWhatNobodyGaveIsADefault) {
  const std::string yaml = YamlOf(PolicyText("retry: {max_attempts: 3, codes: [14], http: []}"));
  EXPECT_THAT(yaml, HasSubstr("  - name: default\n"));
  EXPECT_THAT(yaml, HasSubstr("      max_attempts: 3\n"));
  EXPECT_THAT(yaml, HasSubstr("      codes: [UNAVAILABLE]\n"));
  EXPECT_THAT(yaml, HasSubstr("      http: []\n"));
  EXPECT_THAT(yaml, HasSubstr("      failures: [refused, connect]  # default\n"));
}

TEST(EffectiveYaml, PresetIsWrittenAsWhatItStandsFor) {
  const std::string yaml = YamlOf(PolicyText("retry: {backoff: {preset: grpc, multiplier: 3}}"));
  EXPECT_THAT(yaml,
              HasSubstr("        initial: 100ms\n"
                        "        multiplier: 3\n"
                        "        max: 1s\n"  // of the preset, although the default is the same
                        "        jitter: {factor: 0.2}\n"
                        "        max_advice: 1m  # default\n"));
  EXPECT_THAT(yaml, Not(HasSubstr("preset")));
}

TEST(EffectiveYaml, FieldsThatMeanNothingAreLeftOut) {
  const std::string yaml = YamlOf(PolicyText("retry: {backoff: {constant: 10s}}"));
  EXPECT_THAT(yaml, HasSubstr("      backoff:\n        max_advice: 1m  # default\n"
                              "        constant: 10s\n"));
  EXPECT_THAT(yaml, Not(HasSubstr("truncate")));
}

TEST(EffectiveYaml, PermissionsAreThoseOfUnixSockets) {
  const std::string unix_socket = "listeners: [{name: a, address: \"unix:/run/a.sock\"}]\n";
  EXPECT_THAT(YamlOf(unix_socket), HasSubstr("    mode: \"0660\"  # default\n"));
  ExpectSameWhenReadAgain(unix_socket);
}

TEST(EffectiveYaml, ReadAgainItMeansTheSame) {
  ExpectSameWhenReadAgain("");
  ExpectSameWhenReadAgain("metrics: {address: none, otel_names: true}\nadmin: {address: none}\n");
  ExpectSameWhenReadAgain(PolicyText("timeout: none, hedge: {delay: p99.9, non_fatal: []}"));
  ExpectSameWhenReadAgain(PolicyText("idempotency: {mode: never, key: {header: X-Key}}"));
}

TEST(EffectiveYaml, EveryPresetReadAgainMeansTheSame) {
  for (const char* preset :
       {"grpc", "google-cloud", "google-http", "aws-simpledb", "full-jitter-100ms", "celery",
        "ethernet", "vital", "aws-2026", "linkerd", "istio", "envoy"}) {
    ExpectSameWhenReadAgain(
        PolicyText("retry: {backoff: {preset: " + std::string(preset) + "}, buffer: 1000B}"));
  }
}

TEST(EffectiveYaml, RulesAndLimitsReadAgainMeanTheSame) {
  ExpectSameWhenReadAgain(PolicyText(
      "retry: {backoff: {schedule: [1s, 2.5s]}, rules: [{codes: [8], http: [429, 5xx]},\n"
      "{failures: [reset], max_attempts: 2, backoff: {slot: 51.2us}}]},\n"
      "rate_limit: [{name: a, rate: 90/m, key: [method, \"header:X-Tenant\"]},\n"
      "{name: b, rate: 0.5/h, key: [], adaptive: true}]"));
}

TEST(EffectiveYaml, NumbersKeepEveryDigit) {
  ExpectSameWhenReadAgain(
      PolicyText("retry: {budget: {ratio: 0.12345678901234567, floor: {per_second: 1000000,\n"
                 "min_success: 1e-7}}}"));
}

TEST(EffectiveYaml, TextsThatYamlWouldTakeForSomethingElseAreQuoted) {
  const std::string text = "policies: [{name: \"null\"}, {name: \"~\"}]\n";
  EXPECT_THAT(FaultsOf(text), HasSubstr("policies[1].name"));  // no name, quoted or not
  ExpectSameWhenReadAgain(
      "policies: [{name: \"null\"}, {name: \"true\"}, {name: \"1.5\"}]\n"
      "routes: [{match: {authority: \"*:#{[&\\\"'\", method: \"*\"},\n"
      "upstream: anywhere, policy: \"null\"}]\n");
  ExpectSameWhenReadAgain(
      "access_log: {path: \"/var/log/a: b # \\\"c\\\"\\tgr\u00fc\u00df.json\"}\n");
}

TEST(EffectiveYaml, PathsMeanTheSameWhereverItIsRead) {
  const TemporaryFolder folder;
  folder.Write("shop.pb",
               std::string("\x0a\x18\x12\x01p\x32\x13\x0a\x01S\x12\x0e\x0a\x01M\x12\x04.p.A"
                           "\x1a\x03.p.",
                           26));
  const std::string config = folder.Write(
      "levee.yaml",
      "upstreams: [{name: anywhere, endpoints: [\"authority:\"], descriptor_set: shop.pb}]\n"
      "access_log: {path: calls.json}\n");
  const auto snapshot = LoadConfig({{config}, std::nullopt});
  ASSERT_TRUE(snapshot.ok()) << snapshot.status().message();
  const std::string yaml = (*snapshot)->effective.yaml;
  EXPECT_THAT(yaml, HasSubstr("descriptor_set: \"" + folder.Path("shop.pb") + "\"\n"));
  EXPECT_THAT(yaml, HasSubstr("path: \"" + folder.Path("calls.json") + "\"\n"));
  const auto again = ParseConfig("/elsewhere/again.yaml", yaml);
  ASSERT_TRUE(again.ok()) << again.status().message();
  EXPECT_EQ((*again)->sha256, (*snapshot)->sha256);
}

TEST(EffectiveYaml, FilesOfTheRepositoryReadAgainMeanTheSame) {
  for (const std::string& file : PolicyFiles()) {
    const auto snapshot = LoadConfig({{file}, std::nullopt});
    ASSERT_TRUE(snapshot.ok()) << snapshot.status().message();
    const auto again = ParseConfig("again", (*snapshot)->effective.yaml);
    ASSERT_TRUE(again.ok()) << file << again.status().message();
    EXPECT_EQ((*again)->sha256, (*snapshot)->sha256) << file;
  }
}

TEST(EffectiveYaml, ToIsGiven) {
  const CheckedConfig checked = CheckConfig({}, "cart:1");
  ASSERT_NE(checked.snapshot, nullptr);
  EXPECT_THAT(checked.snapshot->effective.yaml,
              HasSubstr("upstreams:\n  - name: to\n    endpoints: [\"dns:cart:1\"]\n"));
}

TEST(EffectiveJson, HasTheValuesAndThePathsOfDefaults) {
  const std::string json =
      JsonOf("drain: {timeout: 1500ms}\nlimits: {destinations: 7}\nmetrics: {otel_names: true}\n");
  EXPECT_THAT(json, HasSubstr(R"({"config": {"listeners": [{"name": "egress", )"));
  EXPECT_THAT(json, HasSubstr(R"("metrics": {"address": "127.0.0.1:9461", "otel_names": true})"));
  EXPECT_THAT(json, HasSubstr(R"("destinations": 7)"));
  EXPECT_THAT(json, HasSubstr(R"("drain": {"timeout": "1.5s"}})"));
  EXPECT_THAT(json, HasSubstr(R"("jitter": "full", "max_advice": "1m")"));
  EXPECT_THAT(json, HasSubstr(R"("ratio": 0.1, )"));
  EXPECT_THAT(json, HasSubstr(R"("hedge": "none")"));
  EXPECT_THAT(json, HasSubstr(R"("defaults": ["listeners[0].name", )"));
  const YAML::Node defaults = YAML::Load(json)["defaults"];  // JSON is YAML
  for (const YAML::Node& path : defaults) {
    EXPECT_NE(path.as<std::string>(), "drain.timeout");
    EXPECT_NE(path.as<std::string>(), "limits.destinations");
    EXPECT_NE(path.as<std::string>(), "metrics.otel_names");
  }
}

TEST(EffectiveJson, TextsAreEscaped) {
  EXPECT_THAT(JsonOf("access_log: {path: \"/a\\\"b\\\\c\\td\\x01\"}\n"),
              HasSubstr(R"("path": "/a\"b\\c\td\u0001")"));
}

TEST(EffectiveJson, JitterIsAWordOrAnObject) {
  EXPECT_THAT(JsonOf(PolicyText("retry: {backoff: {jitter: {add: 20ms}}}")),
              HasSubstr(R"("jitter": {"add": "20ms"})"));
}

}  // namespace
}  // namespace levee
