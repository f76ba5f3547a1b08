// SPDX-License-Identifier: Apache-2.0
// The commands `levee import` and `levee check` as a user runs them.
#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "integration/child.h"
#include "integration/sidecar_process.h"

namespace levee {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

constexpr char kServiceConfig[] =
    "{\"methodConfig\": [{\"name\": [{\"service\": \"shop.Cart\"}], \"timeout\": \"1s\"}]}";

// Runs levee in a shell, with `input` as its standard input.
Ended RunWithInput(const std::string& arguments, const std::string& input) {
  const TempFile file(input);
  return RunToEnd("/bin/sh",
                  {"-c", absl::StrCat(LEVEE_BINARY, " ", arguments, " < ", file.path())});
}

TEST(Import, PrintsAPolicyThatCheckAccepts) {
  const TempFile config(kServiceConfig);
  const Ended imported = RunToEnd(LEVEE_BINARY, {"import", "grpc-service-config", config.path()});
  EXPECT_EQ(imported.exit, 0);
  EXPECT_EQ(imported.errors, "routes: 1 exact, 0 narrowed, 0 guarded, 0 refused\n");
  EXPECT_THAT(imported.output, HasSubstr("  - match: {method: \"/shop.Cart/*\"}\n"));
  const TempFile policy(imported.output);
  const Ended checked = RunToEnd(LEVEE_BINARY, {"check", policy.path()});
  EXPECT_EQ(checked.exit, 0);
  EXPECT_EQ(checked.output, policy.path() + ": ok\n");
}

TEST(Import, WithStrictEndsWithOneUnlessEveryRouteIsExact) {
  const std::string exact = "[{match: {prefix: /}, route: {cluster: a}}]";
  const std::string guarded =
      "[{match: {prefix: /, headers: [{name: x, contains_match: y}]}, route: {cluster: a}}]";
  EXPECT_EQ(RunWithInput("import envoy --strict -", exact).exit, 0);
  EXPECT_EQ(RunWithInput("import envoy -", guarded).exit, 0);
  const Ended strict = RunWithInput("import envoy --strict -", guarded);
  EXPECT_EQ(strict.exit, 1);
  EXPECT_EQ(strict.errors, "routes: 0 exact, 0 narrowed, 1 guarded, 0 refused\n");
  EXPECT_THAT(strict.output, HasSubstr("Takes more calls than it should"));
}

TEST(Import, ARefusedRouteIsAnErrorAndCounted) {
  const Ended refused =
      RunWithInput("import envoy -", "[{match: {prefix: /}, route: {cluster_header: x}}]");
  EXPECT_EQ(refused.exit, 1);
  EXPECT_EQ(refused.output, "");
  EXPECT_EQ(refused.errors,
            "-:1:2: [0]: where its calls go is not known: cluster_header has no equivalent\n"
            "routes: 0 exact, 0 narrowed, 0 guarded, 1 refused\n");
}

TEST(Import, ReadsStandardInput) {
  const Ended grpc = RunWithInput("import grpc-service-config -", kServiceConfig);
  EXPECT_EQ(grpc.exit, 0);
  EXPECT_THAT(grpc.output, StartsWith("# Levee's equivalent of the gRPC service config.\n"));
  const Ended envoy = RunWithInput("import envoy -", "retry_on: unavailable\n");
  EXPECT_EQ(envoy.exit, 0);
  EXPECT_THAT(envoy.output, StartsWith("# Levee's equivalent of the Envoy configuration.\n"));
}

TEST(Import, BadInputIsReportedOnStandardError) {
  const Ended broken = RunWithInput("import envoy -", "routes: [");
  EXPECT_EQ(broken.exit, 1);
  EXPECT_EQ(broken.output, "");
  EXPECT_THAT(broken.errors, StartsWith("-:1:"));
  const Ended missing = RunToEnd(LEVEE_BINARY, {"import", "envoy", "/nonexistent/envoy.yaml"});
  EXPECT_EQ(missing.exit, 1);
  EXPECT_EQ(missing.errors,
            "/nonexistent/envoy.yaml: LV401 cannot be read: No such file or directory\n");
}

TEST(Import, EveryFileThatIsMissingIsNamed) {
  const Ended missing = RunToEnd(LEVEE_BINARY, {"import", "envoy", "/nowhere/a", "/nowhere/b"});
  EXPECT_EQ(missing.exit, 1);
  EXPECT_EQ(missing.errors,
            "/nowhere/a: LV401 cannot be read: No such file or directory\n"
            "/nowhere/b: LV401 cannot be read: No such file or directory\n");
}

TEST(Import, WrongUsageExitsWithTwo) {
  EXPECT_EQ(RunToEnd(LEVEE_BINARY, {"import"}).exit, 2);
  EXPECT_EQ(RunToEnd(LEVEE_BINARY, {"import", "haproxy", "f"}).exit, 2);
  EXPECT_EQ(RunToEnd(LEVEE_BINARY, {"import", "envoy"}).exit, 2);
  EXPECT_EQ(RunToEnd(LEVEE_BINARY, {"check"}).exit, 2);
}

TEST(Check, PrintsEveryFaultOnStandardOutput) {
  const Ended ended = RunWithInput("check -",
                                   "policies:\n"
                                   "  - name: default\n"
                                   "    retry: {max_attempts: 0}\n"
                                   "    timeout: 5\n");
  EXPECT_EQ(ended.exit, 1);
  EXPECT_EQ(ended.errors, "");
  EXPECT_EQ(ended.output,
            "-:3:27: LV201 policies[0].retry.max_attempts: 0 is too small; it must be at least 1\n"
            "-:4:14: LV204 policies[0].timeout: \"5\" has no unit; say 5ms or 5s\n"
            "2 faults\n");
}

TEST(Check, SeveralFilesAreOneConfiguration) {
  const TempFile routes("routes: [{upstream: cart, policy: default}]\n");
  const TempFile upstreams("upstreams: [{name: cart, endpoints: [\"127.0.0.1:1\"]}]\n");
  const Ended both = RunToEnd(LEVEE_BINARY, {"check", routes.path(), upstreams.path()});
  EXPECT_EQ(both.exit, 0);
  EXPECT_EQ(both.output, routes.path() + ": ok\n" + upstreams.path() + ": ok\n");
  const Ended one = RunToEnd(LEVEE_BINARY, {"check", routes.path()});
  EXPECT_EQ(one.exit, 1);
  EXPECT_THAT(one.output, HasSubstr("there is no upstream named \"cart\""));
}

TEST(Check, AFileThatCannotBeReadIsAFault) {
  const Ended ended = RunToEnd(LEVEE_BINARY, {"check", "/nonexistent/levee.yaml"});
  EXPECT_EQ(ended.exit, 1);
  EXPECT_EQ(ended.output,
            "/nonexistent/levee.yaml: LV401 cannot be read: No such file or directory\n1 fault\n");
}

constexpr char kDangerous[] = "policies: [{name: default, retry: {budget: {ratio: 0.8}}}]\n";

TEST(Check, WarningsArePrintedAndPass) {
  const Ended ended = RunWithInput("check -", kDangerous);
  EXPECT_EQ(ended.exit, 0);
  EXPECT_THAT(ended.output,
              HasSubstr("-:1:52: LV906 policies[0].retry.budget.ratio: warning: 0.8 "));
  EXPECT_THAT(ended.output, HasSubstr("\n-: ok\n1 warning\n"));
}

TEST(Check, StrictMakesAWarningFail) {
  const Ended ended = RunWithInput("check --strict -", kDangerous);
  EXPECT_EQ(ended.exit, 1);
  EXPECT_THAT(ended.output, Not(HasSubstr(": ok")));
  EXPECT_EQ(RunWithInput("check --strict -", "drain: {timeout: 1s}\n").exit, 0);
}

TEST(Check, JsonIsOneDocument) {
  const Ended ended = RunWithInput("check -o json -", "drain: {timeout: 5}\n");
  EXPECT_EQ(ended.exit, 1);
  EXPECT_EQ(ended.output,
            R"({"ok": false, "files": ["-"], "faults": [{"file": "-", "line": 1, "column": 18, )"
            R"("code": "LV204", "severity": "fault", "path": "drain.timeout", )"
            R"("text": "\"5\" has no unit; say 5ms or 5s"}], "warnings": []})"
            "\n");
  EXPECT_THAT(RunWithInput("check -o json --strict -", kDangerous).output,
              HasSubstr(R"({"ok": false, )"));
  EXPECT_EQ(RunToEnd(LEVEE_BINARY, {"check", "-o", "xml", "-"}).exit, 2);
}

TEST(Check, FaultsOfOtherFilesStandBesideAFileThatCannotBeRead) {
  const TempFile file("drain: {timeout: 5}\n");
  const Ended ended = RunToEnd(LEVEE_BINARY, {"check", "/nonexistent/a.yaml", file.path()});
  EXPECT_EQ(ended.exit, 1);
  EXPECT_THAT(ended.output, HasSubstr(": LV204 drain.timeout: "));
  EXPECT_THAT(ended.output, HasSubstr("/nonexistent/a.yaml: LV401 cannot be read"));
}

}  // namespace
}  // namespace levee
