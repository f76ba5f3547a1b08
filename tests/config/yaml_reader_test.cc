// SPDX-License-Identifier: Apache-2.0
// Faults of YAML and its shape, each with its position.
#include "config/yaml_reader.h"

#include <string>

#include "config/faults_of.h"
#include "gtest/gtest.h"

namespace levee {
namespace {

TEST(YamlReader, SyntaxErrorHasItsPosition) {
  EXPECT_EQ(
      FaultsOf("drain:\n  timeout: 1s\n timeout: 2s\n"),
      "f:3:2: LV101 this is not YAML: end of map not found; check the indentation, brackets and "
      "quotes up to here");
  EXPECT_EQ(
      FaultsOf("limits: {destinations: *nowhere}\n"),
      "f:1:24: LV101 this is not YAML: the referenced anchor is not defined; quote a text that "
      "begins with '*'");
}

TEST(YamlReader, ATabThatIndentsIsNamed) {
  const std::string fault = ": LV101 this is not YAML: tabs may not indent; indent with spaces";
  EXPECT_EQ(FaultsOf("drain:\n\ttimeout: 1s\n"), "f:2:1" + fault);
  EXPECT_EQ(FaultsOf("drain:\n\ttimeout: 1s\n\tx: 1\n"), "f:2:1" + fault);
  EXPECT_EQ(FaultsOf("policies:\n\t- name: x\n"), "f:2:1" + fault);
  EXPECT_EQ(FaultsOf("drain:\n  timeout: 1s\n\tx: 1\n"), "f:3:1" + fault);
  EXPECT_EQ(FaultsOf("drain:\n  \ttimeout: 1s\n"), "f:2:3" + fault);
  EXPECT_EQ(FaultsOf("policies:\n- name: x\n  retry:\n\t  max_attempts: 3\n"), "f:4:1" + fault);
}

TEST(YamlReader, ATabThatMayStandThereIsNotBlamed) {
  EXPECT_EQ(FaultsOf("drain: {\n\ttimeout: 1s}\n"), "");
  EXPECT_EQ(FaultsOf("drain: {\n\ttimeout: [1s}\n"),
            "f:2:14: LV101 this is not YAML: illegal flow end; check the indentation, brackets and "
            "quotes up to here");
  EXPECT_EQ(
      FaultsOf("drain: {timeout: 1s\n\t, x\n"),
      "f:3:1: LV101 this is not YAML: end of map flow not found; check the indentation, brackets "
      "and quotes up to here");
}

TEST(YamlReader, DeepNestingIsRefused) {
  EXPECT_EQ(FaultsOf(std::string(100'000, '[')), "f:1:1: LV101 this is not YAML: bad file");
}

TEST(YamlReader, SecondDocumentIsRefused) {
  EXPECT_EQ(FaultsOf("drain: {timeout: 1s}\n---\ndrain: {timeout: 2s}\n"),
            "f:2:1: LV103 the YAML document ends before this; one per file is read");
  // Text that yaml-cpp takes for a document of its own, again and again.
  EXPECT_EQ(FaultsOf("#\n,"),
            "f:2:1: LV103 the YAML document ends before this; one per file is read");
  EXPECT_EQ(FaultsOf("drain: {}\n...\ndrain: {}\n"),
            "f:3:1: LV103 the YAML document ends before this; one per file is read");
}

TEST(YamlReader, TextThatIsNotUtf8IsRefusedWhereItStopsBeingIt) {
  EXPECT_EQ(FaultsOf("drain: {timeout: 1s}\n# gr\xfc\xdf\n"),
            "f:2:5: LV102 this is not UTF-8; save the file as UTF-8");
  EXPECT_EQ(FaultsOf("\xff\xfe"), "f:1:1: LV102 this is not UTF-8; save the file as UTF-8");
  EXPECT_EQ(FaultsOf("\xef\xbb\xbf# gr\xc3\xbc\xc3\x9f\n"), "");
}

TEST(YamlReader, NulByteIsRefused) {
  EXPECT_EQ(FaultsOf(std::string("drain: {timeout: 1s}\n\0", 22)),
            "f: LV102 holds a NUL byte; save it as text in UTF-8");
}

TEST(YamlReader, DocumentThatIsNoMappingIsRefused) {
  EXPECT_EQ(
      FaultsOf("- drain\n"),
      "f:1:1: LV109 is a list; write a mapping of these: listeners, metrics, admin, upstreams, "
      "routes, policies, tie, stores, overload, access_log, otlp, limits, drain");
  EXPECT_EQ(FaultsOf("drain\n"),
            "f:1:1: LV109 is \"drain\"; write a mapping of these: listeners, metrics, admin, "
            "upstreams, routes, policies, tie, stores, overload, access_log, otlp, limits, drain");
}

TEST(YamlReader, UnknownFieldSuggestsTheNearest) {
  EXPECT_EQ(
      FaultsOf("policies:\n  - name: default\n    retry:\n      max_atempts: 3\n"),
      "f:4:7: LV105 policies[0].retry.max_atempts: unknown field; did you mean max_attempts?");
  EXPECT_EQ(
      FaultsOf("policies: [{name: default, retry: {maxAttempts: 3}}]\n"),
      "f:1:36: LV105 policies[0].retry.maxAttempts: unknown field; did you mean max_attempts?");
}

TEST(YamlReader, UnknownFieldListsTheKnownOnes) {
  EXPECT_EQ(FaultsOf("drain: {colour: red}\n"),
            "f:1:9: LV105 drain.colour: unknown field; known here: timeout");
  EXPECT_EQ(
      FaultsOf("policies: [{name: default, retry: {backoff: {jitter: {kind: full}}}}]\n"),
      "f:1:55: LV105 policies[0].retry.backoff.jitter.kind: unknown field; known here: factor, "
      "add");
}

TEST(YamlReader, MergeKeyIsNotRead) {
  EXPECT_EQ(
      FaultsOf("drain: {<<: {timeout: 1s}}\n"),
      "f:1:9: LV105 drain.<<: unknown field; YAML merge keys are not read, an alias stands for a "
      "whole value");
}

TEST(YamlReader, DuplicateKeyIsRefused) {
  EXPECT_EQ(FaultsOf("drain:\n  timeout: 1s\n  timeout: 2s\n"),
            "f:3:3: LV106 drain.timeout: is given twice; first in line 2");
  EXPECT_EQ(FaultsOf("drain: {timeout: 1s}\ndrain: {timeout: 1s}\n"),
            "f:2:1: LV106 drain: is given twice; first in line 1");
}

TEST(YamlReader, KeyThatIsNoWordIsRefused) {
  EXPECT_EQ(FaultsOf("drain: {[a]: 1}\n"),
            "f:1:9: LV107 drain: a key is not a single word; write NAME: VALUE");
}

TEST(YamlReader, MissingValueIsPlacedAtItsKey) {
  EXPECT_EQ(FaultsOf("drain:\n  timeout:\nlimits: {}\n"),
            "f:2:3: LV108 drain.timeout: has no value; leave the field out for its default");
  EXPECT_EQ(FaultsOf("drain: ~\n"),
            "f:1:1: LV108 drain: has no value; leave the field out for its default");
  EXPECT_EQ(FaultsOf("policies:\n"
                     "  - name: default\n"
                     "    retry: {codes: [ABORTED, ~]}\n"
                     "  - null\n"),
            "f:2:3: LV108 policies[1]: has no value; leave the element out\n"
            "f:3:20: LV108 policies[0].retry.codes[1]: has no value; leave the element out");
}

TEST(YamlReader, WrongTypesSayWhatIsWanted) {
  EXPECT_EQ(FaultsOf("drain: 20s\n"),
            "f:1:8: LV109 drain: is \"20s\"; write a mapping of these: timeout");
  EXPECT_EQ(FaultsOf("drain:\n  timeout: [20s]\n"),
            "f:2:3: LV109 drain.timeout: is a list; write a single value");
  EXPECT_EQ(FaultsOf("drain:\n  timeout: {s: 20}\n"),
            "f:2:3: LV109 drain.timeout: is a mapping; write a single value");
  EXPECT_EQ(FaultsOf("overload:\n  honor: levee\n"),
            "f:2:10: LV109 overload.honor: is \"levee\"; write a list; say [levee]");
  EXPECT_EQ(FaultsOf("overload:\n  honor: {levee: 1}\n"),
            "f:2:3: LV109 overload.honor: is a mapping; write a list");
  EXPECT_EQ(FaultsOf("policies:\n  - default\n"),
            "f:2:5: LV109 policies[0]: is \"default\"; write a mapping of these: name, timeout, "
            "retry, hedge, idempotency, rate_limit, throttle, guard, stream");
}

TEST(YamlReader, NumbersAreNumbers) {
  EXPECT_EQ(FaultsOf("limits: {destinations: many}\n"),
            "f:1:24: LV109 limits.destinations: \"many\" is not a whole number");
  EXPECT_EQ(FaultsOf("limits: {destinations: 1.5}\n"),
            "f:1:24: LV109 limits.destinations: \"1.5\" is not a whole number");
  EXPECT_EQ(FaultsOf("limits: {destinations: 99999999999}\n"),
            "f:1:24: LV109 limits.destinations: \"99999999999\" is not a whole number");
  EXPECT_EQ(FaultsOf("limits: {destinations: \"5\"}\n"),
            "f:1:24: LV109 limits.destinations: \"5\" is text; say a whole number without quotes");
  EXPECT_EQ(FaultsOf("access_log: {sample: .nan}\n"),
            "f:1:22: LV109 access_log.sample: \".nan\" is not a number");
  EXPECT_EQ(FaultsOf("access_log: {sample: inf}\n"),
            "f:1:22: LV109 access_log.sample: \"inf\" is not a number");
  EXPECT_EQ(FaultsOf("policies: [{name: default, rate_limit: [{name: a, rate: 1/s, adaptive: yes}]}"
                     "]\n"),
            "f:1:72: LV109 policies[0].rate_limit[0].adaptive: \"yes\" is not true or false");
}

TEST(YamlReader, UnknownWordsSuggestOrList) {
  EXPECT_EQ(FaultsOf("policies: [{name: default, retry: {commit: header}}]\n"),
            "f:1:44: LV202 policies[0].retry.commit: \"header\" is unknown; did you mean headers?");
  EXPECT_EQ(FaultsOf("policies: [{name: default, retry: {commit: Auto}}]\n"),
            "f:1:44: LV202 policies[0].retry.commit: \"Auto\" is unknown; did you mean auto?");
  EXPECT_EQ(FaultsOf("policies: [{name: default, retry: {failures: [refused, lost]}}]\n"),
            "f:1:56: LV202 policies[0].retry.failures[1]: \"lost\" is unknown; allowed: refused, "
            "connect, reset, timeout");
  EXPECT_EQ(
      FaultsOf("policies: [{name: default, retry: {backoff: {jitter: 0.2}}}]\n"),
      "f:1:54: LV202 policies[0].retry.backoff.jitter: \"0.2\" is unknown; allowed: none, full, "
      "equal, decorrelated, {factor: ...}, {add: ...}");
  EXPECT_EQ(
      FaultsOf("policies: [{name: default, retry: {commit: unspecified}}]\n"),
      "f:1:44: LV202 policies[0].retry.commit: \"unspecified\" is unknown; allowed: auto, headers");
}

TEST(YamlReader, OneFormOfSeveral) {
  EXPECT_EQ(
      FaultsOf("policies:\n"
               "  - name: default\n"
               "    retry:\n"
               "      backoff:\n"
               "        jitter: {factor: 0.1, add: 1s}\n"),
      "f:5:31: LV304 policies[0].retry.backoff.jitter.add: excludes factor, which is given too; "
      "only one is allowed");
}

TEST(YamlReader, ControlCharactersDoNotBreakTheLine) {
  EXPECT_EQ(FaultsOf("drain: {\"a\\nb\": 1, timeout: \"1\\n2\"}\n"),
            "f:1:9: LV105 drain.\"a\\nb\": unknown field; known here: timeout\n"
            "f:1:29: LV204 drain.timeout: \"1\\n2\" is not a duration; say 250ms, 10s or 1m30s "
            "(units: ns, "
            "us, ms, s, m, h)");
}

TEST(YamlReader, AliasesMayNotMultiplyWithoutBound) {
  std::string text = "policies:\n  - &p {name: a, retry: {codes: [";
  for (int i = 0; i < 1000; ++i) text += "14,";
  text += "]}}\n";
  for (int i = 0; i < 1000; ++i) text += "  - *p\n";
  EXPECT_EQ(FaultsOf(text),
            "f:2:1831: LV104 more than 100000 values, aliases included; the rest is not read");
}

// What comes behind the first value that is too many is not looked at, and nothing is made of what
// stands before it.
TEST(YamlReader, ValuesAreCountedWhileTheTextIsRead) {
  std::string text = "policies: [";
  for (int i = 0; i < kMaxYamlValues; ++i) text += "1,";
  EXPECT_EQ(FaultsOf(text + "]}"), "f:1:200010: LV104 more than 100000 values, or as many commas");
  text = "policies:\n";
  for (int i = 0; i <= kMaxYamlValues; ++i) text += "- 1\n";
  EXPECT_EQ(FaultsOf(text + "]"), "f:100001:3: LV104 more than 100000 values, or as many commas");
  text = "policies: [{name: a, retry: {codes: [";
  for (int i = 0; i < kMaxYamlValues - 10; ++i) text += "14,";
  EXPECT_EQ(FaultsOf(text + "]}}]").find("more than"), std::string::npos);
}

TEST(YamlReader, AliasOfItsOwnParentIsRefused) {
  EXPECT_EQ(
      FaultsOf("&a\npolicies: [*a]\n"),
      "f:1:1: LV110 policies[0].name: is missing; it must be given\n"
      "f:2:1: LV105 policies[0].policies: unknown field; known here: name, timeout, retry, hedge, "
      "idempotency, rate_limit, throttle, guard, stream");
}

TEST(YamlReader, AllFaultsAreReportedUpToABound) {
  std::string text = "policies:\n";
  for (int i = 0; i < 250; ++i) text += "  - {name: p" + std::to_string(i) + ", x: 1}\n";
  const CheckedConfig checked = CheckConfig({{"f", text}}, std::nullopt);
  ASSERT_EQ(checked.faults.size(), 201u);
  EXPECT_EQ(checked.faults[199].line, 201);
  EXPECT_EQ(FormatFault(checked.faults[200]), "LV001 and 50 more");
}

}  // namespace
}  // namespace levee
