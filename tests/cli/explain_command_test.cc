// SPDX-License-Identifier: Apache-2.0
// `levee explain` on the command line.
#include <fstream>
#include <sstream>
#include <string>

#include "cli/levee_command.h"
#include "config/temporary_folder.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace levee {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;
using testing::StartsWith;

class ExplainTest : public testing::Test {
 protected:
  std::string First(const std::vector<std::string>& words) {
    const Answer answer = Levee(words);
    EXPECT_EQ(answer.code, 2) << answer.out;
    return answer.err.substr(0, answer.err.find('\n'));
  }

  const TemporaryFolder folder_;
  const std::string policy_ =
      folder_.Write("policy.yaml",
                    "policies:\n"
                    "  - name: default\n"
                    "    retry: {max_attempts: 4, backoff: {initial: 1s, max: 10s}}\n"
                    "    rate_limit: [{name: t, rate: 5/s, key: [\"header:x-tenant\"]}]\n");
};

TEST_F(ExplainTest, PrintsWhatFollowsForTheCall) {
  const Answer answer = Levee({"explain", policy_, "--authority", "cart.shop:1", "--method",
                               "shop.Cart/Add", "--header", "X-Tenant=acme", "--deadline", "2s"});
  EXPECT_EQ(answer.code, 0);
  EXPECT_EQ(answer.err, "");
  EXPECT_THAT(answer.out, StartsWith("call: listener \"egress\", authority \"cart.shop:1\", method "
                                     "\"/shop.Cart/Add\", x-tenant: \"acme\", deadline 2s\n"));
  EXPECT_THAT(answer.out, ContainsRegex("retry.max_attempts +4 +" + policy_ + ":3\n"));
  EXPECT_THAT(answer.out, HasSubstr("attempt 3 does not fit a deadline of 2s in 25% of draws"));
  EXPECT_THAT(answer.out, HasSubstr("header:x-tenant \"acme\""));
}

TEST_F(ExplainTest, AsJsonIsOneDocument) {
  const Answer answer = Levee({"explain", "-o", "json", policy_});
  EXPECT_EQ(answer.code, 0);
  EXPECT_THAT(answer.out, StartsWith("{\n"));
  EXPECT_THAT(answer.out, HasSubstr("\"policy\": \"default\""));
}

TEST_F(ExplainTest, AFaultyFileIsAnsweredAsByCheck) {
  const std::string faulty = folder_.Write("faulty.yaml", "limit: {}\n");
  const Answer answer = Levee({"explain", faulty});
  EXPECT_EQ(answer.code, 1);
  EXPECT_EQ(answer.out, "");
  EXPECT_EQ(answer.err, Levee({"check", faulty}).out);
}

TEST_F(ExplainTest, SeveralFilesAreOneConfiguration) {
  const std::string later =
      folder_.Write("later.yaml", "policies: [{name: default, timeout: 7s}]\n");
  EXPECT_THAT(Levee({"explain", policy_, later}).out,
              HasSubstr("7s                  " + later + ":1"));
}

TEST_F(ExplainTest, WritesAFileForABrowser) {
  const std::string out = folder_.Path("out.html");
  const Answer answer = Levee({"explain", policy_, "--html", out});
  EXPECT_EQ(answer.code, 0);
  std::ostringstream html;
  html << std::ifstream(out).rdbuf();
  EXPECT_THAT(html.str(), StartsWith("<!doctype html>"));
  EXPECT_THAT(html.str(), HasSubstr("</html>\n"));
  EXPECT_THAT(answer.out, HasSubstr("policy default"));
}

TEST_F(ExplainTest, AFileThatCannotBeWrittenFailsTheCommand) {
  const std::string out = folder_.Path("none/out.html");
  const Answer answer = Levee({"explain", policy_, "--html", out});
  EXPECT_EQ(answer.code, 1);
  EXPECT_EQ(answer.err,
            "levee explain: " + out + " cannot be written: No such file or directory\n");
}

TEST_F(ExplainTest, AWrongQuestionIsWrongUsage) {
  EXPECT_EQ(First({"explain", policy_, "--listener", "egres"}),
            "levee explain: there is no listener \"egres\"; did you mean egress?");
  EXPECT_EQ(First({"explain", policy_, "--deadline", "2"}),
            "--deadline: \"2\" has no unit; say 2ms or 2s");
  EXPECT_EQ(First({"explain", policy_, "--deadline", "0s"}), "--deadline: is no time");
  EXPECT_THAT(First({"explain", policy_, "--header", "x-tenant"}),
              HasSubstr("\"x-tenant\" is not NAME=VALUE"));
  EXPECT_EQ(First({"explain"}), "levee explain: FILE is required");
}

}  // namespace
}  // namespace levee
