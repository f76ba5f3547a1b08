// SPDX-License-Identifier: Apache-2.0
// `levee check` of one configuration in several files, and of several configurations.
#include <string>

#include "cli/levee_command.h"
#include "config/temporary_folder.h"
#include "gtest/gtest.h"

namespace levee {
namespace {

class CheckTest : public testing::Test {
 protected:
  const TemporaryFolder folder_;
  const std::string good_ =
      folder_.Write("good.yaml", "policies: [{name: default, timeout: 1s}]\n");
  const std::string same_name_ = folder_.Write("same.yaml", "policies: [{name: default}]\n");
  const std::string other_name_ = folder_.Write("other.yaml", "drain: {timeout: 7s}\n");
  const std::string faulty_ = folder_.Write("faulty.yaml", "limit: {}\n");
  const std::string risky_ = folder_.Write("risky.yaml", "admin: {address: 0.0.0.0:1}\n");
  const std::string fault_ = faulty_ + ":1:1: LV105 limit: unknown field; did you mean limits?\n";
};

TEST_F(CheckTest, EachFileIsJudgedAlone) {
  const Answer answer = Levee({"check", "--each", good_, faulty_, same_name_});
  EXPECT_EQ(answer.code, 1);
  EXPECT_EQ(answer.out, good_ + ": ok\n" + fault_ + same_name_ + ": ok\n" + "1 fault\n");
  EXPECT_EQ(answer.err, "");
}

TEST_F(CheckTest, EachFileMayHaveWhatOnlyOneOfAConfigurationMay) {
  // One configuration cannot send to an upstream that only another one has.
  const std::string whole = folder_.Write(
      "whole.yaml",
      "upstreams: [{name: cart, endpoints: [\"10.0.0.7:1\"]}]\nroutes: [{upstream: cart}]\n");
  const std::string part = folder_.Write("part.yaml", "routes: [{upstream: cart}]\n");
  EXPECT_EQ(Levee({"check", whole, part}).code, 0);
  EXPECT_EQ(Levee({"check", "--each", whole, part}).code, 1);
  EXPECT_EQ(Levee({"check", "--each", whole, good_}).code, 0);
}

TEST_F(CheckTest, StrictFailsOnlyTheFileThatHasTheWarning) {
  const Answer answer = Levee({"check", "--each", "--strict", risky_, good_});
  EXPECT_EQ(answer.code, 1);
  EXPECT_EQ(answer.out.find(risky_ + ": ok"), std::string::npos) << answer.out;
  EXPECT_NE(answer.out.find(good_ + ": ok"), std::string::npos) << answer.out;
  EXPECT_EQ(Levee({"check", "--each", risky_, good_}).code, 0);
}

TEST_F(CheckTest, EachAsJsonIsOneDocument) {
  const Answer answer = Levee({"check", "--each", "-o", "json", good_, faulty_});
  EXPECT_EQ(answer.code, 1);
  EXPECT_EQ(answer.out, "{\"ok\": false, \"files\": [\"" + good_ + "\", \"" + faulty_ +
                            "\"], \"faults\": [{\"file\": \"" + faulty_ +
                            "\", \"line\": 1, \"column\": 1, \"code\": \"LV105\", "
                            "\"severity\": \"fault\", \"path\": \"limit\", \"text\": "
                            "\"unknown field; did you mean limits?\"}], \"warnings\": []}\n");
}

TEST_F(CheckTest, MemorySaysWhatTheLimitsMayTakeOfIt) {
  const std::string fits = folder_.Write("fits.yaml", "limits: {connections: 1000}\n");
  const Answer answer = Levee({"check", "--memory", "128MiB", fits});
  EXPECT_EQ(answer.code, 0);
  EXPECT_EQ(answer.out,
            fits + ": ok\n" +
                "memory of 128.0 MiB: limits.memory is 96.0 MiB; windows shrink from 57.6 MiB on, "
                "calls end from 76.8 MiB on\n"
                "   8.0 MiB  the sidecar itself\n"
                "   3.9 MiB  idle connections of callers (limits.connections)\n"
                "  16.0 MiB  bodies kept for retries (limits.replay_bytes)\n"
                "   8.0 MiB  header blocks that have begun, of one worker\n"
                "   8.0 MiB  routes of calls seen before, of one worker\n"
                "  32.9 MiB  left for calls when all of these are used\n");
}

TEST_F(CheckTest, LimitsThatMemoryHasNoRoomForAreAWarningIfTheyWereGiven) {
  const std::string large = folder_.Write("large.yaml", "limits: {replay_bytes: 100MiB}\n");
  const Answer answer = Levee({"check", "--strict", "--memory", "128MiB", large});
  EXPECT_EQ(answer.code, 1);
  EXPECT_NE(
      answer.out.find(large + ":1:24: LV922 limits.replay_bytes: warning: takes up to "
                              "100.0 MiB, with the others 202.1 MiB; of 96.0 MiB (limits.memory) "
                              "calls end from 76.8 MiB on"),
      std::string::npos)
      << answer.out;
  EXPECT_EQ(Levee({"check", "--strict", "--memory", "512MiB", large}).code, 0);
  EXPECT_EQ(Levee({"check", "--strict", "--memory", "128MiB", good_}).code, 0);
}

std::string PolicyWithKeys(const std::string& dedupe) {
  return "listeners: [{name: ingress, address: \"127.0.0.1:9450\", direction: inbound}]\n"
         "upstreams: [{name: app, endpoints: [\"127.0.0.1:50051\"]}]\n"
         "routes: [{match: {listener: ingress}, upstream: app, policy: p}]\n"
         "policies:\n- {name: p, guard: {dedupe: " +
         dedupe + "}}\n";
}

TEST_F(CheckTest, AnswersKeptByKeysAreCountedAndTheirDefaultFitsAnyMemory) {
  const std::string keys = folder_.Write("keys.yaml", PolicyWithKeys("{}"));
  for (const auto& [memory, line] :
       {std::pair("128MiB", "\n  24.0 MiB  answers kept by idempotency keys (dedupe.max_bytes)\n"),
        std::pair("512MiB", "\n  64.0 MiB  answers kept by idempotency keys")}) {
    const Answer answer = Levee({"check", "--memory", memory, keys});
    EXPECT_NE(answer.out.find(line), std::string::npos) << answer.out;
    EXPECT_EQ(answer.out.find("LV9"), std::string::npos) << answer.out;
  }
}

TEST_F(CheckTest, KeysForWhichMemoryHasNoRoomAreAWarningIfTheirBoundWasGiven) {
  const std::string keys = folder_.Write("keys.yaml", PolicyWithKeys("{max_bytes: 64MiB}"));
  const Answer answer = Levee({"check", "--memory", "128MiB", keys});
  EXPECT_NE(answer.out.find(":5:41: LV937 policies[0].guard.dedupe.max_bytes: warning: 64.0 MiB is "
                            "more than the 24.0 MiB that its keys get: tables of keys take a "
                            "quarter of 96.0 MiB (limits.memory) together; say less"),
            std::string::npos)
      << answer.out;
  EXPECT_EQ(Levee({"check", "--memory", "512MiB", keys}).out.find("LV937"), std::string::npos);
  EXPECT_EQ(Levee({"check", keys}).out.find("LV937"), std::string::npos) << "nobody knows";
  const std::string with_limit = folder_.Write(
      "limit.yaml", "limits: {memory: 100MiB}\n" + PolicyWithKeys("{max_bytes: 26MiB}"));
  EXPECT_NE(Levee({"check", with_limit}).out.find("LV937"), std::string::npos);
}

TEST_F(CheckTest, MemoryIsASize) {
  const Answer answer = Levee({"check", "--memory", "128", good_});
  EXPECT_EQ(answer.code, 2);
  EXPECT_EQ(answer.err,
            "--memory: \"128\" has no unit; say 128KiB or 128B\nRun with --help for more "
            "information.\n");
}

TEST_F(CheckTest, AHintSaysWhichNameTwoFilesShare) {
  const Answer answer = Levee({"check", good_, same_name_});
  EXPECT_EQ(answer.code, 0);
  EXPECT_EQ(answer.out, good_ + ": ok\n" + same_name_ + ": ok\n");
  EXPECT_EQ(answer.err, "levee: " + same_name_ + ":1:12: policies[0] replaces " + good_ +
                            ":1:12: policies[0], which has the same name: several files are one "
                            "configuration; --each checks each alone\n");
}

TEST_F(CheckTest, FilesWithoutACommonNameGetNoHint) {
  EXPECT_EQ(Levee({"check", good_, other_name_}).err, "");
  EXPECT_EQ(Levee({"check", "--each", good_, same_name_}).err, "");
}

}  // namespace
}  // namespace levee
