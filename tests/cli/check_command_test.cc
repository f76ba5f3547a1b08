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
