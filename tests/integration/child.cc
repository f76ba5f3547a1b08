// SPDX-License-Identifier: Apache-2.0
#include "integration/child.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <ctime>
#include <fstream>

#include "gtest/gtest.h"

namespace levee {

Child::Child(const std::string& program, const std::vector<std::string>& arguments) {
  int output[2];
  if (pipe2(output, O_CLOEXEC) != 0) ADD_FAILURE() << "no pipe";
  // A file takes all that is written, so that a talkative child never waits for its reader.
  errors_ = memfd_create("stderr", MFD_CLOEXEC);
  std::vector<char*> argv = {const_cast<char*>(program.c_str())};
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  pid_ = fork();
  if (pid_ == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    dup2(output[1], STDOUT_FILENO);
    dup2(errors_, STDERR_FILENO);
    execv(program.c_str(), argv.data());
    _exit(127);
  }
  close(output[1]);
  output_ = output[0];
  pidfd_ = static_cast<int>(syscall(SYS_pidfd_open, pid_, 0));
  EXPECT_GE(pidfd_, 0);
}

Child::~Child() {
  if (!exit_.has_value()) {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  for (const int fd : {pidfd_, output_, errors_}) close(fd);
}

bool Child::WaitReadable(int fd) const {
  pollfd wait = {.fd = fd, .events = POLLIN, .revents = 0};
  const auto patience = std::chrono::duration_cast<std::chrono::milliseconds>(kPatience);
  return poll(&wait, 1, static_cast<int>(patience.count())) == 1;
}

std::optional<std::string> Child::ReadLine() {
  for (;;) {
    if (const size_t end = unread_.find('\n'); end != std::string::npos) {
      std::string line = unread_.substr(0, end);
      unread_.erase(0, end + 1);
      return line;
    }
    if (!WaitReadable(output_)) return std::nullopt;
    std::array<char, 4096> buffer;
    const ssize_t size = read(output_, buffer.data(), buffer.size());
    if (size <= 0) return std::nullopt;
    unread_.append(buffer.data(), static_cast<size_t>(size));
  }
}

void Child::CloseOutput() {
  close(output_);
  output_ = -1;
}

std::string Child::Errors() const {
  std::string text(static_cast<size_t>(lseek(errors_, 0, SEEK_END)), '\0');
  const ssize_t size = pread(errors_, text.data(), text.size(), 0);
  text.resize(size < 0 ? 0 : static_cast<size_t>(size));
  return text;
}

void Child::Signal(int signal) const {
  // By the descriptor: the number may belong to another process once the child has ended.
  syscall(SYS_pidfd_send_signal, pidfd_, signal, nullptr, 0);
}

bool Child::HasEnded() const {
  pollfd end = {.fd = pidfd_, .events = POLLIN, .revents = 0};
  return exit_.has_value() || poll(&end, 1, 0) == 1;
}

std::optional<int> Child::WaitForExit() {
  if (exit_.has_value() || !WaitReadable(pidfd_)) return exit_;
  int status = 0;
  waitpid(pid_, &status, 0);
  exit_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return exit_;
}

long Child::ResidentBytes() const {
  std::ifstream statm("/proc/" + std::to_string(pid_) + "/statm");
  long total = 0, resident = 0;
  statm >> total >> resident;
  return resident * sysconf(_SC_PAGESIZE);
}

std::chrono::nanoseconds Child::CpuTime() const {
  clockid_t clock{};
  timespec time{};
  EXPECT_EQ(clock_getcpuclockid(pid_, &clock), 0);
  EXPECT_EQ(clock_gettime(clock, &time), 0);
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

Ended RunToEnd(const std::string& program, const std::vector<std::string>& arguments) {
  Child child(program, arguments);
  Ended ended;
  while (const auto line = child.ReadLine()) ended.output += *line + "\n";
  ended.exit = child.WaitForExit();
  ended.errors = child.Errors();
  return ended;
}

}  // namespace levee
