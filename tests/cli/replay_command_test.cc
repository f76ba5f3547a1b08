// SPDX-License-Identifier: Apache-2.0
// `levee replay` and `levee advise` on the command line.
#include <string>

#include "cli/levee_command.h"
#include "config/temporary_folder.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace levee {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr char kCall[] =
    R"({"time":"2026-01-01T00:00:00.000Z","duration_ms":5,"listener":"egress","upstream":"default",)"
    R"("authority":"cart:80","method":"shop.Cart/Add","code":"OK","attempts":[{"n":1,)"
    R"("endpoint":"10.0.0.1:80","start_ms":0,"duration_ms":5,"code":"OK","trigger":null,)"
    R"("delay_ms":null}],"refused":null,"marks":[],"request_bytes":20,"response_bytes":20})"
    "\n";

class ReplayCommand : public testing::Test {
 protected:
  const TemporaryFolder folder_;
  const std::string policy_ = folder_.Write("p.yaml", "policies: [{name: default}]\n");
  const std::string log_ = folder_.Write("calls.log", std::string(kCall) + kCall);
};

TEST_F(ReplayCommand, PrintsWhatThePolicyHadDone) {
  const Answer text = Levee({"replay", log_, "--config", policy_, "--against", policy_});
  EXPECT_EQ(text.code, 0) << text.err;
  EXPECT_THAT(text.out, AllOf(HasSubstr("levee replay: 2 calls\n"), HasSubstr("as recorded")));
  const Answer json = Levee({"replay", log_, "--config", policy_, "-o", "json"});
  EXPECT_THAT(json.out, AllOf(HasSubstr("\"recorded\": {"), HasSubstr("\"drawn_share\": 0")));
}

TEST_F(ReplayCommand, ALogThatCannotCarryItFailsWithTheReason) {
  const std::string cut = folder_.Write("cut.log", "{\"time\":");
  for (const char* command : {"replay", "advise"}) {
    const Answer answer = Levee({command, cut, "--config", policy_});
    EXPECT_EQ(answer.code, 1);
    EXPECT_THAT(answer.err, HasSubstr("cut.log:1: is no line of an access log"));
  }
}

TEST_F(ReplayCommand, AdviceNamesTheReplayThatProvesIt) {
  const Answer answer = Levee({"advise", log_, "--config", policy_});
  EXPECT_EQ(answer.code, 0) << answer.err;
  EXPECT_THAT(answer.out, AllOf(HasSubstr("# 2 calls with the policy default: nothing to change"),
                                HasSubstr("# Then: levee replay " + log_)));
}

}  // namespace
}  // namespace levee
