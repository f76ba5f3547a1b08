// SPDX-License-Identifier: Apache-2.0
// `levee top` beside a real sidecar: on a pipe, on a terminal, and as one or the other goes away.
#include <poll.h>
#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "integration/byte_call.h"
#include "integration/child.h"
#include "integration/faulty_service.h"
#include "integration/sidecar_process.h"

namespace levee {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::MatchesRegex;
using testing::Not;
using testing::StartsWith;

// Runs `levee WORDS...` to its end on a terminal of 80x24. Ctrl-C is typed once `until` was shown;
// an empty one: never.
struct OnTerminal {
  explicit OnTerminal(std::vector<std::string> words, const std::string& until = "");

  std::string output;
  int exit = -1;
};

OnTerminal::OnTerminal(std::vector<std::string> words, const std::string& until) {
  words.insert(words.begin(), "levee");
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  winsize size{.ws_row = 24, .ws_col = 80, .ws_xpixel = 0, .ws_ypixel = 0};
  int terminal = -1;
  const pid_t pid = forkpty(&terminal, nullptr, nullptr, &size);
  if (pid == 0) {
    setenv("TERM", "xterm", 1);
    execv(LEVEE_BINARY, arguments.data());
    _exit(127);
  }
  bool typed = until.empty();
  pollfd readable = {.fd = terminal, .events = POLLIN, .revents = 0};
  std::array<char, 4096> buffer;
  while (poll(&readable, 1, std::chrono::milliseconds(kPatience).count()) == 1) {
    const ssize_t got = read(terminal, buffer.data(), buffer.size());
    if (got <= 0) break;  // EIO: the other end was closed.
    output.append(buffer.data(), static_cast<size_t>(got));
    if (!typed && output.find(until) != std::string::npos) {
      typed = write(terminal, "\x03", 1) == 1;
    }
  }
  close(terminal);  // If it still runs, this ends it.
  int status = 0;
  if (waitpid(pid, &status, 0) == pid && WIFEXITED(status)) exit = WEXITSTATUS(status);
}

class TopTest : public testing::Test {
 protected:
  FaultyService service_{FailFirst(1)};
  std::unique_ptr<SidecarProcess> sidecar_ = std::make_unique<SidecarProcess>(
      ConfigParts{.endpoints = {service_.address()}, .admin = "{address: \"127.0.0.1:0\"}"});
  const std::string admin_ = sidecar_->AwaitAddress("admin");
};

TEST_F(TopTest, PrintsALineForEachSecondOnAPipe) {
  const Ended top = RunToEnd(LEVEE_BINARY, {"top", "--address", admin_, "--count", "2"});
  EXPECT_EQ(top.exit, 0) << top.errors;
  EXPECT_THAT(top.output, MatchesRegex("(20[0-9TZ:-]+ [a-zA-Z]+ shop: .*\n){2}"));
  EXPECT_THAT(top.output, Not(HasSubstr("\x1b")));
}

TEST_F(TopTest, DrawsOnATerminalAndLeavesItAsItWas) {
  EXPECT_TRUE(CallUnary(NewChannel(sidecar_->address())).status.ok());  // Retried once.
  const OnTerminal top({"top", "--count", "3", "--address", admin_});
  EXPECT_EQ(top.exit, 0) << top.output;
  EXPECT_THAT(top.output, HasSubstr("test.Echo/Unary  2 attempts"));
  EXPECT_THAT(top.output, StartsWith("\x1b[?1049h\x1b[?25l"));
  EXPECT_THAT(top.output, EndsWith("\x1b[?25h\x1b[?1049l"));
}

TEST_F(TopTest, LeavesTheTerminalAsItWasAtCtrlCToo) {
  const OnTerminal top({"top", "--address", admin_}, "LAST CALLS");
  EXPECT_EQ(top.exit, 0) << top.output;
  EXPECT_THAT(top.output, EndsWith("\x1b[?25h\x1b[?1049l"));
}

TEST_F(TopTest, SaysThatTheSidecarHasGoneAndAsksOn) {
  Child top(LEVEE_BINARY, {"top", "--address", admin_});
  ASSERT_TRUE(top.ReadLine().has_value()) << top.Errors();
  sidecar_.reset();
  std::string line;
  while (line.find("no answer: " + admin_ + ": connection refused") == std::string::npos) {
    const auto next = top.ReadLine();
    ASSERT_TRUE(next.has_value()) << top.Errors();
    line = *next;
  }
  EXPECT_TRUE(top.ReadLine().has_value());
  top.Signal(SIGINT);
  EXPECT_EQ(top.WaitForExit(), 0);
}

TEST_F(TopTest, EndsAtAnInterruptOrWithItsReader) {
  Child interrupted(LEVEE_BINARY, {"top", "--address", admin_});
  ASSERT_TRUE(interrupted.ReadLine().has_value());
  interrupted.Signal(SIGINT);
  EXPECT_EQ(interrupted.WaitForExit(), 0);
  Child unread(LEVEE_BINARY, {"top", "--address", admin_});
  ASSERT_TRUE(unread.ReadLine().has_value());
  unread.CloseOutput();
  EXPECT_EQ(unread.WaitForExit(), 0);
  EXPECT_EQ(unread.Errors(), "");
}

TEST_F(TopTest, WithoutASidecarItSaysWhyAtOnce) {
  sidecar_.reset();
  const Ended top = RunToEnd(LEVEE_BINARY, {"top", "--address", admin_});
  EXPECT_EQ(top.exit, 1);
  EXPECT_EQ(top.output, "");
  EXPECT_EQ(top.errors, "levee top: " + admin_ + ": connection refused\n");
}

TEST_F(TopTest, AnotherPortThanAdminIsNamedAsSuch) {
  const std::string metrics = sidecar_->address("metrics");
  const Ended top = RunToEnd(LEVEE_BINARY, {"top", "--address", metrics});
  EXPECT_EQ(top.exit, 1);
  EXPECT_THAT(top.errors, HasSubstr(metrics + ": HTTP status 404"));
}

}  // namespace
}  // namespace levee
