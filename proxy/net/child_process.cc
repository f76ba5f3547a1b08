// SPDX-License-Identifier: Apache-2.0
#include "net/child_process.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"

namespace levee::net {
namespace {

absl::Status Error(std::string_view what, int error) {
  return absl::InternalError(absl::StrCat(absl::string_view(what.data(), what.size()), ": ",
                                          std::generic_category().message(error)));
}

// Runs in the child, between fork and exec: only calls that are safe in a signal handler.
[[noreturn]] void Execute(const char* program, char* const* arguments, int output, int parent) {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(127);  // The parent ended before prctl.
  dup2(output, STDOUT_FILENO);
  dup2(output, STDERR_FILENO);
  execv(program, arguments);
  const char message[] = "cannot execute the program\n";
  (void)!write(STDERR_FILENO, message, sizeof message - 1);
  _exit(127);
}

}  // namespace

absl::StatusOr<std::unique_ptr<ChildProcess>> ChildProcess::Start(
    EventLoop& loop, const std::string& program, const std::vector<std::string>& arguments,
    LineHandler on_line, EndHandler on_end) {
  std::vector<std::string> words = {program};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> pointers;
  pointers.reserve(words.size() + 1);
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);

  std::array<int, 2> output;
  if (pipe2(output.data(), O_CLOEXEC) != 0) return Error("pipe", errno);
  const int parent = getpid();
  const int pid = fork();
  if (pid == 0) Execute(program.c_str(), pointers.data(), output[1], parent);
  const int error = errno;
  close(output[1]);
  if (pid < 0) {
    close(output[0]);
    return Error("fork", error);
  }
  fcntl(output[0], F_SETFL, O_NONBLOCK);
  return std::unique_ptr<ChildProcess>(
      new ChildProcess(loop, pid, output[0], std::move(on_line), std::move(on_end)));
}

ChildProcess::ChildProcess(EventLoop& loop, int pid, int output, LineHandler on_line,
                           EndHandler on_end)
    : pid_(pid), output_(output), on_line_(std::move(on_line)), on_end_(std::move(on_end)) {
  watch_.emplace(loop, output_, static_cast<ReadyHandler&>(*this));
  watch_->Set(true, false);
}

ChildProcess::~ChildProcess() {
  if (pid_ > 0) {
    Kill();
    Reap();
  }
  watch_.reset();
  close(output_);
}

void ChildProcess::Terminate() {
  if (pid_ > 0) kill(pid_, SIGTERM);
}

void ChildProcess::Kill() {
  if (pid_ > 0) kill(pid_, SIGKILL);
}

void ChildProcess::OnReady(bool, bool) {
  std::array<char, 4096> buffer;
  const ssize_t size = read(output_, buffer.data(), buffer.size());
  if (size > 0) {
    TakeLines({buffer.data(), static_cast<size_t>(size)});
    return;
  }
  if (size < 0 && (errno == EAGAIN || errno == EINTR)) return;
  // The end of the child's output counts as the child's end: it closes its output only as it exits.
  watch_.reset();
  if (!unfinished_line_.empty()) TakeLines("\n");
  const int code = Reap();
  const EndHandler on_end = std::move(on_end_);
  on_end(code);
}

void ChildProcess::TakeLines(std::string_view text) {
  unfinished_line_.append(text);
  size_t begin = 0;
  for (size_t end; (end = unfinished_line_.find('\n', begin)) != std::string::npos;
       begin = end + 1) {
    on_line_(std::string_view(unfinished_line_).substr(begin, end - begin));
  }
  unfinished_line_.erase(0, begin);
}

int ChildProcess::Reap() {
  int status = 0;
  while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  pid_ = -1;
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace levee::net
