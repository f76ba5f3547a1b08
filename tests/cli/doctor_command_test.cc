// SPDX-License-Identifier: Apache-2.0
// The exit codes and the output of `levee doctor` and `levee inject`.
#include <string>

#include "cli/levee_command.h"
#include "config/temporary_folder.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace levee {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

class DoctorTest : public testing::Test {
 protected:
  const TemporaryFolder folder_;
  const std::string plain_ =
      folder_.Write("plain.yaml",
                    "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec:\n  containers:\n"
                    "    - name: a\n      image: a:1\n");
  const std::string injected_ = folder_.Write("injected.yaml", Levee({"inject", "-f", plain_}).out);
};

TEST_F(DoctorTest, APodThatIsWellPasses) {
  const Answer answer = Levee({"doctor", "--strict", "--pod", injected_});
  EXPECT_EQ(answer.code, 0);
  EXPECT_EQ(answer.err, "");
  EXPECT_THAT(answer.out, StartsWith("ok      LD201 " + injected_ + ": document 1, Pod a: "));
}

TEST_F(DoctorTest, AFaultFails) {
  const Answer answer = Levee({"doctor", "-o", "json", "--pod", plain_});
  EXPECT_EQ(answer.code, 1);
  EXPECT_THAT(answer.out, StartsWith("{\"ok\": false, \"checks\": [{\"severity\": \"fault\", "
                                     "\"code\": \"LD200\", "));
  EXPECT_EQ(Levee({"doctor", "--pod", "/nowhere.yaml"}).code, 1);
}

TEST_F(DoctorTest, AWarningFailsOnlyWhereThatIsAskedFor) {
  std::string text = Levee({"inject", "-f", plain_}).out;
  text.replace(text.find("startupProbe"), 12, "livenessProbe");
  const std::string file = folder_.Write("warned.yaml", text);
  EXPECT_EQ(Levee({"doctor", "--pod", file}).code, 0);
  EXPECT_EQ(Levee({"doctor", "--strict", "--pod", file}).code, 1);
}

TEST_F(DoctorTest, ASidecarThatDoesNotAnswerIsAFault) {
  const Answer answer = Levee({"doctor", "--pod", injected_, "--address", "127.0.0.1:1"});
  EXPECT_EQ(answer.code, 1);
  EXPECT_THAT(answer.out, HasSubstr("LD208"));
  EXPECT_THAT(answer.out, HasSubstr("fault   LD101 the sidecar does not answer: 127.0.0.1:1: "));
  EXPECT_EQ(Levee({"doctor", "--address", "example.com:1"}).code, 2);
}

TEST_F(DoctorTest, InjectedTextIsTheOnlyOutput) {
  const Answer again = Levee({"inject", "-f", injected_});
  EXPECT_EQ(again.out, Levee({"inject", "-f", plain_}).out);
  EXPECT_EQ(again.err, injected_ + ":1: document 1, Pod a: has Levee already; it stays as it is\n");
  EXPECT_EQ(Levee({"inject", "-f", plain_, "--image", "a b"}).code, 2);
}

}  // namespace
}  // namespace levee
