// SPDX-License-Identifier: Apache-2.0
// Files, several files, --to, and the example files of config/.
#include "config/load.h"

#include <filesystem>
#include <fstream>
#include <string>

#include "config/faults_of.h"
#include "files/source_path.h"
#include "gtest/gtest.h"

namespace levee {
namespace {

// A file that is gone after the test.
class TemporaryFile {
 public:
  explicit TemporaryFile(const std::string& text)
      : path_(testing::TempDir() + "levee-config-" +
              testing::UnitTest::GetInstance()->current_test_info()->name() + ".yaml") {
    std::ofstream(path_) << text;
  }
  ~TemporaryFile() { std::filesystem::remove(path_); }
  const std::string& path() const { return path_; }

 private:
  const std::string path_;
};

std::string ErrorOf(const ConfigInput& input) {
  return std::string(LoadConfig(input).status().message());
}

std::string FaultsOfBoth(const std::string& first, const std::string& second) {
  return FormatFaults(CheckConfig({{"a", first}, {"b", second}}, std::nullopt).faults);
}

TEST(Load, ReadsAFile) {
  const TemporaryFile file("drain: {timeout: 7s}\n");
  const auto snapshot = LoadConfig({{file.path()}, std::nullopt});
  ASSERT_TRUE(snapshot.ok()) << snapshot.status();
  EXPECT_EQ((*snapshot)->drain_timeout, absl::Seconds(7));
}

TEST(Load, ErrorIsAllFaultsOnePerLine) {
  const TemporaryFile file("drain: {timeout: 7}\nlimit: {}\n");
  EXPECT_EQ(ErrorOf({{file.path()}, std::nullopt}),
            file.path() + ":1:18: LV204 drain.timeout: \"7\" has no unit; say 7ms or 7s\n" +
                file.path() + ":2:1: LV105 limit: unknown field; did you mean limits?");
}

TEST(Load, StandardInputIsAFileLikeOthers) {
  const TemporaryFile file("drain: {timeout: 7s}\n");
  ConfigInput input{{file.path(), "-"}, std::nullopt};
  input.standard_input = "drain: {timeout: 8s}\n";
  const auto snapshot = LoadConfig(input);
  ASSERT_TRUE(snapshot.ok()) << snapshot.status();
  EXPECT_EQ((*snapshot)->drain_timeout, absl::Seconds(8));
  input.standard_input = "limit: {}\n";
  EXPECT_EQ(ErrorOf(input), "-:1:1: LV105 limit: unknown field; did you mean limits?");
}

TEST(Load, FileThatCannotBeReadIsAFault) {
  EXPECT_EQ(ErrorOf({{"/nonexistent/levee.yaml"}, std::nullopt}),
            "/nonexistent/levee.yaml: LV401 cannot be read: No such file or directory");
  EXPECT_EQ(ErrorOf({{testing::TempDir()}, std::nullopt}),
            testing::TempDir() + ": LV401 cannot be read: Is a directory");
}

TEST(Load, FileAtTheLimitIsReadAndOneByteMoreIsNot) {
  const std::string comment = "#" + std::string(kMaxConfigFileBytes - 2, 'x') + "\n";
  {
    const TemporaryFile file(comment);
    EXPECT_EQ(ErrorOf({{file.path()}, std::nullopt}), "");
  }
  const TemporaryFile file(comment + "#");
  EXPECT_EQ(ErrorOf({{file.path()}, std::nullopt}),
            file.path() + ": LV402 is larger than 1 MiB; split it into several files");
}

TEST(Load, UnreadableFileDoesNotMakeReferencesDangle) {
  const TemporaryFile file("routes: [{upstream: anywhere, policy: patient}]\ntypo: 1\n");
  EXPECT_EQ(ErrorOf({{file.path(), "/nonexistent/policies.yaml"}, std::nullopt}),
            file.path() +
                ":2:1: LV105 typo: unknown field; known here: listeners, metrics, admin, "
                "upstreams, routes, policies, tie, stores, overload, access_log, otlp, limits, "
                "drain\n"
                "/nonexistent/policies.yaml: LV401 cannot be read: No such file or directory");
}

TEST(Load, ValuesAreCheckedBesideAFileThatIsNotYaml) {
  EXPECT_EQ(FaultsOfBoth("drain: {timeout: 5}\nroutes: [{upstream: cart}]\n", "upstreams: [\n"),
            "a:1:18: LV204 drain.timeout: \"5\" has no unit; say 5ms or 5s\n"
            "b:2:1: LV101 this is not YAML: end of sequence flow not found; check the "
            "indentation, brackets and quotes up to here");
}

TEST(Load, ParseConfigNamesTheText) {
  EXPECT_TRUE(ParseConfig("x.yaml", "drain: {timeout: 1s}\n").ok());
  EXPECT_EQ(ParseConfig("x.yaml", "drain: 1\n").status().message(),
            "x.yaml:1:8: LV109 drain: is \"1\"; write a mapping of these: timeout");
}

TEST(Load, LaterFileReplacesEntriesOfTheSameName) {
  const CheckedConfig checked = CheckConfig(
      {{"a", "policies: [{name: x, timeout: 1s}, {name: y, timeout: 2s, retry: {codes: [8]}}]\n"},
       {"b", "policies: [{name: z, timeout: 3s}, {name: y, retry: {max_attempts: 9}}]\n"}},
      std::nullopt);
  ASSERT_NE(checked.snapshot, nullptr) << FormatFaults(checked.faults);
  const std::vector<CallPolicy>& policies = checked.snapshot->policies;
  ASSERT_EQ(policies.size(), 4u);
  EXPECT_EQ(policies[0].name, "x");
  EXPECT_EQ(policies[1].name, "y");
  // The whole entry is replaced, not its fields.
  EXPECT_EQ(policies[1].timeout, absl::InfiniteDuration());
  EXPECT_EQ(policies[1].retry.codes, StatusCodeSet{StatusCode::kUnavailable});
  EXPECT_EQ(policies[1].retry.max_attempts, 9);
  EXPECT_EQ(policies[2].name, "z");
  EXPECT_EQ(policies[3].name, "default");
}

TEST(Load, LaterFileReplacesRoutesAndSingleFields) {
  const CheckedConfig checked =
      CheckConfig({{"a",
                    "routes: [{match: {method: /a/*}, upstream: anywhere}, {upstream: anywhere}]\n"
                    "limits: {destinations: 5, method_labels: 6}\n"},
                   {"b",
                    "routes: [{match: {method: /b/*}, upstream: anywhere}]\n"
                    "limits: {method_labels: 7}\n"}},
                  std::nullopt);
  ASSERT_NE(checked.snapshot, nullptr) << FormatFaults(checked.faults);
  ASSERT_EQ(checked.snapshot->routes.routes().size(), 1u);
  EXPECT_EQ(checked.snapshot->routes.routes()[0].method, "/b/*");
  EXPECT_EQ(checked.snapshot->limits.destinations, 5);
  EXPECT_EQ(checked.snapshot->limits.method_labels, 7);
}

TEST(Load, FaultsKeepTheFileAndItsOwnNumbers) {
  EXPECT_EQ(FaultsOfBoth("policies: [{name: x}, {name: y}]\n",
                         "policies: [{name: z}, {name: y, timeout: 0s}]\n"),
            "b:1:42: LV201 policies[1].timeout: 0s is too small; it must be above 0s, or none");
  EXPECT_EQ(FaultsOfBoth("policies: [{name: x}, {name: y}]\n", "policies: [{name: z, timeout: 5}]"),
            "b:1:31: LV204 policies[0].timeout: \"5\" has no unit; say 5ms or 5s");
  EXPECT_EQ(FaultsOfBoth("routes: [{upstream: nowhere}]\n", "limits: {destinations: 0}\n"),
            "a:1:21: LV301 routes[0].upstream: there is no upstream named \"nowhere\"; did you "
            "mean anywhere?\n"
            "b:1:24: LV201 limits.destinations: 0 is too small; it must be at least 1");
}

TEST(Load, ReplacedEntriesAreNotChecked) {
  EXPECT_EQ(FaultsOfBoth("policies: [{name: x, timeout: 0s, retry: {codes: [NO]}}]\n",
                         "policies: [{name: x}]\n"),
            "");
}

TEST(Load, NameTwiceInTheLaterFileIsStillAFault) {
  EXPECT_EQ(
      FaultsOfBoth("policies: [{name: x}]\n", "policies: [{name: x}, {name: x}]\n"),
      "b:1:30: LV303 policies[1].name: \"x\" is given twice; first at b:1:19: policies[0].name");
}

TEST(Load, ToSendsEverythingThere) {
  const auto snapshot = LoadConfig({{}, "127.0.0.1:50051"});
  ASSERT_TRUE(snapshot.ok()) << snapshot.status();
  ASSERT_EQ((*snapshot)->upstreams.size(), 1u);
  EXPECT_EQ((*snapshot)->upstreams[0].name, "to");
  const EndpointList& endpoints = *(*snapshot)->endpoints.at("to");
  ASSERT_EQ(endpoints.size(), 1u);
  EXPECT_EQ(endpoints[0].host, "127.0.0.1");
  EXPECT_EQ(endpoints[0].port, 50051);
  ASSERT_EQ((*snapshot)->routes.routes().size(), 1u);
  EXPECT_EQ((*snapshot)->routes.routes()[0].method, "*");
  EXPECT_EQ((*snapshot)->policies[0].name, "default");
}

TEST(Load, ToReplacesUpstreamsAndRoutesOfFilesAndKeepsTheRest) {
  const CheckedConfig checked = CheckConfig(
      {{"a",
        "listeners: [{name: a, address: \"127.0.0.1:7\"}]\n"
        "upstreams: [{name: cart, endpoints: [\"dns:cart:1\"]}]\n"
        "routes: [{match: {method: /a/*}, upstream: cart, policy: x}, {upstream: nowhere}]\n"
        "policies: [{name: x, timeout: 1s}, {name: default, timeout: 2s}]\n"}},
      "localhost:1");
  ASSERT_NE(checked.snapshot, nullptr) << FormatFaults(checked.faults);
  EXPECT_EQ(checked.snapshot->listeners[0].address.port, 7);
  ASSERT_EQ(checked.snapshot->upstreams.size(), 1u);
  EXPECT_EQ(checked.snapshot->endpoints.at("to")->at(0).host, "localhost");
  ASSERT_EQ(checked.snapshot->routes.routes().size(), 1u);
  EXPECT_EQ(checked.snapshot->routes.routes()[0].policy, 1);
  EXPECT_EQ(checked.snapshot->policies[1].timeout, absl::Seconds(2));
}

TEST(Load, FaultyToIsNamedAsTheOption) {
  EXPECT_EQ(ErrorOf({{}, "cart"}), "--to: LV210 \"cart\" is not HOST:PORT; say 10.0.0.7:50051");
  EXPECT_EQ(ErrorOf({{}, ""}), "--to: LV210 \"\" is not HOST:PORT; say 10.0.0.7:50051");
}

TEST(Load, AddressesOfTheCommandLineReplaceTheBuiltInOnes) {
  ConfigInput input{{}, "127.0.0.1:50051"};
  input.listen = "0.0.0.0:7460";
  input.metrics = "127.0.0.1:7461";
  input.admin = "none";
  const CheckedConfig checked = CheckConfig(input);
  ASSERT_NE(checked.snapshot, nullptr) << FormatFaults(checked.faults);
  ASSERT_EQ(checked.snapshot->listeners.size(), 1u);
  EXPECT_EQ(checked.snapshot->listeners[0].name, "egress");
  EXPECT_EQ(checked.snapshot->listeners[0].address.host, "0.0.0.0");
  EXPECT_EQ(checked.snapshot->listeners[0].address.port, 7460);
  ASSERT_TRUE(checked.snapshot->metrics.has_value());
  EXPECT_EQ(checked.snapshot->metrics->port, 7461);
  EXPECT_FALSE(checked.snapshot->admin.has_value());
  EXPECT_EQ(checked.snapshot->upstreams[0].name, "to");
}

TEST(Load, AddressesAreReplacedOneByOne) {
  ConfigInput input;
  input.metrics = "127.0.0.1:7461";
  const CheckedConfig checked = CheckConfig(input);
  ASSERT_NE(checked.snapshot, nullptr) << FormatFaults(checked.faults);
  EXPECT_EQ(checked.snapshot->listeners[0].address.port, 9460);
  EXPECT_EQ(checked.snapshot->metrics->port, 7461);
  EXPECT_EQ(checked.snapshot->admin->port, 9462);
}

TEST(Load, FaultyAddressesAreNamedAsTheirOptions) {
  ConfigInput input;
  input.listen = "9460";
  input.metrics = "7461";
  input.admin = "somewhere:1";
  EXPECT_EQ(ErrorOf(input),
            "--listen: LV209 \"9460\" is not HOST:PORT; say 127.0.0.1:9460\n"
            "--metrics: LV209 \"7461\" is not HOST:PORT; say 127.0.0.1:9460\n"
            "--admin: LV209 \"somewhere:1\" has no IP address to listen on; say 127.0.0.1 or "
            "0.0.0.0 for all");
  input = {};
  input.listen = input.admin = "127.0.0.1:9461";
  EXPECT_EQ(ErrorOf(input),
            "--listen: LV307 \"127.0.0.1:9461\" is used twice; the other is built-in default: "
            "metrics.address\n"
            "--admin: LV307 \"127.0.0.1:9461\" is used twice; the other is --listen");
}

// `--guard` is short for the example.
TEST(Load, AGuardOfTheCommandLineIsTheExample) {
  ConfigInput options;
  options.guard = "0.0.0.0:9450";
  options.to = "127.0.0.1:50051";
  const CheckedConfig checked = CheckConfig(options);
  ASSERT_NE(checked.snapshot, nullptr) << FormatFaults(checked.faults);
  EXPECT_EQ(FormatFaults(checked.warnings), "");
  const CheckedConfig example =
      CheckConfig(ConfigInput{.files = {SourcePath("config/examples/guard.yaml")}, .to = {}});
  ASSERT_NE(example.snapshot, nullptr) << FormatFaults(example.faults);
  EXPECT_EQ(checked.snapshot->sha256, example.snapshot->sha256);
}

TEST(Load, AGuardOfTheCommandLineTakesTheOtherAddresses) {
  ConfigInput options;
  options.guard = "127.0.0.1:1";
  options.to = "app:50051";
  options.listen = "127.0.0.1:2";
  const CheckedConfig checked = CheckConfig(options);
  ASSERT_NE(checked.snapshot, nullptr) << FormatFaults(checked.faults);
  EXPECT_EQ(checked.snapshot->listeners[0].address.port, 2);
  EXPECT_EQ(checked.snapshot->endpoints.at("app")->at(0).host, "app");
  options.listen = options.guard;
  EXPECT_EQ(ErrorOf(options),
            "--guard: LV307 \"127.0.0.1:1\" is used twice; the other is --listen");
}

TEST(Load, ToTakesAName) {
  const CheckedConfig checked = CheckConfig({}, "cart:1");
  ASSERT_NE(checked.snapshot, nullptr) << FormatFaults(checked.faults);
  EXPECT_EQ(checked.snapshot->endpoints.at("to")->at(0).host, "cart");
}

TEST(Load, NamesTheFilesThatItReads) {
  const CheckedConfig checked = CheckConfig(
      {{"/etc/levee/a.yaml",
        "upstreams:\n"
        "  - {name: a, endpoints: [\"10.0.0.1:1\"], descriptor_set: ./a.pb}\n"
        "  - {name: b, endpoints: [\"10.0.0.1:1\"], descriptor_set: none}\n"
        "  - {name: c, endpoints: [\"10.0.0.1:1\"], descriptor_set: /etc/levee/a.pb}\n"},
       {"/etc/more/b.yaml",
        "upstreams: [{name: d, endpoints: [\"10.0.0.1:1\"], descriptor_set: ../d.pb}]\n"}},
      std::nullopt);
  EXPECT_EQ(checked.reads, (std::vector<std::string>{"/etc/levee/a.pb", "/etc/more/../d.pb"}));
}

TEST(Load, NamesTheFilesThatItReadsAlsoOfATextWithFaults) {
  const std::string upstreams =
      "upstreams: [{name: a, endpoints: [\"10.0.0.1:1\"], descriptor_set: /a.pb}]\n";
  EXPECT_EQ(CheckConfig({{"f", upstreams + "typo: 1\n"}}, std::nullopt).reads,
            std::vector<std::string>{"/a.pb"});
  EXPECT_EQ(CheckConfig({{"f", upstreams}, {"g", "a: ["}}, std::nullopt).reads,
            std::vector<std::string>{"/a.pb"});
}

TEST(Load, ToReadsNothingOfTheUpstreamsThatItReplaces) {
  const CheckedConfig checked = CheckConfig(
      {{"f", "upstreams: [{name: a, endpoints: [\"10.0.0.1:1\"], descriptor_set: /a.pb}]\n"}},
      "cart:1");
  EXPECT_EQ(FormatFaults(checked.faults), "");
  EXPECT_EQ(checked.reads, std::vector<std::string>{});
}

TEST(Load, LeveeYamlIsTheBuiltInDefaultSpelledOut) {
  const auto snapshot = LoadConfig({{SourcePath("config/levee.yaml")}, std::nullopt});
  ASSERT_TRUE(snapshot.ok()) << snapshot.status();
  EXPECT_EQ((*snapshot)->sha256, SnapshotOf("")->sha256);
}

TEST(Load, EveryExampleLoads) {
  int examples = 0;
  for (const auto& entry : std::filesystem::directory_iterator(SourcePath("config/examples"))) {
    if (entry.path().extension() != ".yaml") continue;
    EXPECT_EQ(ErrorOf({{entry.path().string()}, std::nullopt}), "");
    ++examples;
  }
  EXPECT_GE(examples, 3);
}

}  // namespace
}  // namespace levee
