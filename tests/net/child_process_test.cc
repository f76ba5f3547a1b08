// SPDX-License-Identifier: Apache-2.0
#include "net/child_process.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

namespace levee::net {
namespace {

using ::testing::ElementsAre;

class ChildProcessTest : public ::testing::Test {
 protected:
  // Runs a shell script; ends the loop when it has ended.
  void Start(const std::string& script) {
    auto child = ChildProcess::Start(
        loop_, "/bin/sh", {"-c", script},
        [this](std::string_view line) {
          lines_.emplace_back(line);
          if (on_line_) on_line_();
        },
        [this](int code) {
          code_ = code;
          loop_.Stop();
        });
    ASSERT_TRUE(child.ok()) << child.status();
    child_ = *std::move(child);
  }

  EventLoop loop_;
  std::unique_ptr<ChildProcess> child_;
  std::vector<std::string> lines_;
  std::function<void()> on_line_;
  std::optional<int> code_;
};

TEST_F(ChildProcessTest, TellsLinesOfBothOutputsAndTheExitCode) {
  Start("echo one; echo two >&2; printf three; exit 7");
  loop_.Run();
  EXPECT_THAT(lines_, ElementsAre("one", "two", "three"));
  EXPECT_EQ(code_, 7);
}

TEST_F(ChildProcessTest, TerminateIsASignalThatTheChildCanHandle) {
  on_line_ = [this] { child_->Terminate(); };
  Start("trap 'exit 3' TERM; echo ready; while :; do :; done");
  loop_.Run();
  EXPECT_EQ(code_, 3);
}

TEST_F(ChildProcessTest, KillEndsAChildThatDoesNotListen) {
  on_line_ = [this] { child_->Kill(); };
  Start("trap '' TERM; echo ready; while :; do :; done");
  loop_.Run();
  EXPECT_EQ(code_, 128 + 9);
}

TEST_F(ChildProcessTest, TheChildEndsWithItsOwner) {
  on_line_ = [this] { loop_.Stop(); };
  Start("echo ready; while :; do :; done");
  loop_.Run();
  child_.reset();
  EXPECT_EQ(code_, std::nullopt);
}

TEST_F(ChildProcessTest, AProgramThatIsNotThereEndsWith127) {
  auto child = ChildProcess::Start(
      loop_, "/there/is/no/such/program", {}, [](std::string_view) {},
      [this](int code) {
        code_ = code;
        loop_.Stop();
      });
  ASSERT_TRUE(child.ok());
  loop_.Run();
  EXPECT_EQ(code_, 127);
}

}  // namespace
}  // namespace levee::net
