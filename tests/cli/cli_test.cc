// SPDX-License-Identifier: Apache-2.0
// What the command line answers to words that it does not know, and to those who ask for help.
#include <sstream>
#include <string>
#include <vector>

#include "cli/levee_command.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace levee {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

// The first line of the reason for which `levee WORDS...` is wrong usage.
std::string Refused(const std::vector<std::string>& words) {
  const Answer answer = Levee(words);
  EXPECT_EQ(answer.code, 2) << answer.out;
  EXPECT_EQ(answer.out, "");
  return answer.err.substr(0, answer.err.find('\n'));
}

TEST(CommandLine, AnUnknownCommandIsNamedWithTheNearest) {
  EXPECT_EQ(Refused({"rnu"}), "levee: there is no command \"rnu\"; did you mean run?");
  EXPECT_EQ(Refused({"chekc", "f.yaml"}),
            "levee: there is no command \"chekc\"; did you mean check?");
  EXPECT_EQ(Refused({"import", "envoi", "f.yaml"}),
            "levee import: there is no command \"envoi\"; did you mean envoy?");
}

TEST(CommandLine, AnUnknownCommandLikeNoOtherIsNamedWithAll) {
  EXPECT_EQ(Refused({"serve"}),
            "levee: there is no command \"serve\"; there are: run, demo, check, explain, simulate, "
            "replay, advise, import, inject, doctor, fleet, "
            "probe, drain, capture, snapshot, page, top, sleep, version, help");
}

TEST(CommandLine, ACommandThatIsMissingIsAskedForWithAllThatThereAre) {
  EXPECT_EQ(Refused({}),
            "levee: a command is missing; there are run, demo, check, explain, simulate, replay, "
            "advise, import, inject, doctor, fleet, probe, drain, capture, "
            "snapshot, page, top, sleep, version, help");
  EXPECT_EQ(Refused({"import"}),
            "levee import: a command is missing; there are grpc-service-config, envoy, "
            "gateway-api, linkerd, istio");
}

TEST(CommandLine, AnArgumentThatIsMissingIsAskedForByTheNameOfItsValue) {
  EXPECT_EQ(Refused({"check"}), "levee check: FILE is required");
  EXPECT_EQ(Refused({"check", "--strict"}), "levee check: FILE is required");
  EXPECT_EQ(Refused({"import", "envoy"}), "levee import envoy: FILE is required");
  EXPECT_EQ(Refused({"sleep"}), "levee sleep: DURATION is required");
  EXPECT_THAT(Levee({"check"}).err, HasSubstr("\nRun levee check --help for more information.\n"));
}

TEST(CommandLine, AFaultyValueIsNamedBeforeAnArgumentThatIsMissing) {
  EXPECT_THAT(Refused({"check", "--output", "xml"}), StartsWith("--output: "));
}

TEST(CommandLine, HelpOfAnUnknownCommandIsWrongUsage) {
  EXPECT_EQ(Refused({"rnu", "--help"}), "levee: there is no command \"rnu\"; did you mean run?");
  EXPECT_EQ(Refused({"help", "rnu"}), "levee: there is no command \"rnu\"; did you mean run?");
}

TEST(CommandLine, AnUnknownOptionIsNamedWithTheNearest) {
  EXPECT_EQ(Refused({"run", "--confg", "f.yaml"}),
            "levee run: there is no option \"--confg\"; did you mean --config?");
  EXPECT_EQ(Refused({"run", "--worker=3"}),
            "levee run: there is no option \"--worker\"; did you mean --workers?");
  EXPECT_EQ(Refused({"--port", "3"}),
            "levee: there is no option \"--port\"; there are: -h, --help, --version");
}

TEST(CommandLine, AnOptionBeforeItsCommandIsSentBehindIt) {
  EXPECT_EQ(Refused({"--to", "127.0.0.1:1"}),
            "levee: --to is an option of levee run and stands behind it");
}

TEST(CommandLine, AnArgumentTooManyIsNamed) {
  EXPECT_EQ(Refused({"run", "f.yaml"}), "levee run: the argument \"f.yaml\" is one too many");
}

TEST(CommandLine, AnAddressOfTheCommandLineExcludesAFile) {
  EXPECT_EQ(Refused({"run", "--to", "127.0.0.1:1", "--listen", "127.0.0.1:0", "--config", "f"}),
            "levee run: --listen and --config exclude each other; give the address in the file, as "
            "listeners[0].address");
  EXPECT_EQ(Refused({"run", "--to", "127.0.0.1:1", "--guard", "127.0.0.1:0", "--config", "f"}),
            "levee run: --guard and --config exclude each other; give the address in the file, as "
            "listeners[1].address");
  EXPECT_EQ(Refused({"run", "--metrics", "none", "--config", "f"}),
            "levee run: --metrics and --config exclude each other; give the address in the file, "
            "as metrics.address");
  EXPECT_EQ(Refused({"run", "--admin", "none", "--config", "f"}),
            "levee run: --admin and --config exclude each other; give the address in the file, as "
            "admin.address");
}

TEST(CommandLine, AFaultyAddressOfTheCommandLineIsWrongUsage) {
  EXPECT_THAT(Refused({"run", "--listen", "9460"}), StartsWith("--listen: LV209 "));
}

TEST(CommandLine, AGuardNeedsTheApplicationsAddress) {
  EXPECT_EQ(Refused({"run", "--guard", "127.0.0.1:0"}),
            "levee run: --guard needs --to, the address of the application");
  EXPECT_THAT(Refused({"run", "--guard", "9450", "--to", "127.0.0.1:1"}),
              StartsWith("--guard: LV209 "));
}

TEST(CommandLine, AFaultSaysWhichHelpToAskFor) {
  EXPECT_THAT(Levee({"run", "x"}).err, HasSubstr("\nRun levee run --help for more information.\n"));
}

TEST(CommandLine, HelpCommandPrintsTheSameAsItsOption) {
  const std::vector<std::vector<std::string>> commands = {
      {}, {"run"}, {"check"}, {"import"}, {"import", "envoy"}, {"help"}};
  for (std::vector<std::string> words : commands) {
    std::vector<std::string> option = words;
    option.emplace_back("--help");
    words.insert(words.begin(), "help");
    const Answer by_command = Levee(words);
    EXPECT_EQ(by_command.code, 0);
    EXPECT_EQ(by_command.err, "");
    EXPECT_THAT(by_command.out, HasSubstr("Usage: levee"));
    EXPECT_EQ(by_command.out, Levee(option).out);
  }
  EXPECT_THAT(Levee({"help", "run"}).out, StartsWith("run the sidecar\n"));
}

TEST(CommandLine, HelpFitsATerminalOfEightyColumns) {
  const std::vector<std::vector<std::string>> commands = {
      {},         {"run"},    {"demo"},  {"check"}, {"explain"}, {"import"}, {"import", "envoy"},
      {"inject"}, {"doctor"}, {"probe"}, {"sleep"}, {"capture"}};
  for (std::vector<std::string> words : commands) {
    words.insert(words.begin(), "help");
    std::istringstream text(Levee(words).out);
    for (std::string line; std::getline(text, line);) EXPECT_LE(line.size(), 80u) << line;
  }
}

TEST(CommandLine, ALongDescriptionInHelpGoesOnBelowItself) {
  EXPECT_THAT(
      Levee({"help", "check"}).out,
      HasSubstr("\n  --memory SIZE               memory of the container, such as 128MiB: print "
                "how\n                              much of it the limits may take, and warn if "
                "that\n                              is too much\n"));
  EXPECT_THAT(Levee({"help"}).out,
              StartsWith("Levee carries a service's outbound gRPC calls, retries what is worth "
                         "retrying,\nand keeps retries within a budget, so that they never become "
                         "the outage.\n"));
}

}  // namespace
}  // namespace levee
