// SPDX-License-Identifier: Apache-2.0
#include "cli/run_tool.h"

#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <system_error>

#include "absl/strings/str_cat.h"

namespace levee {
namespace {

constexpr int kNotRun = 127;

// A file without a name. Unlike a pipe it never makes one of the two wait for the other.
class Scratch {
 public:
  Scratch() : fd_(memfd_create("levee", MFD_CLOEXEC)) {}
  ~Scratch() {
    if (fd_ >= 0) close(fd_);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  int fd() const { return fd_; }

  bool Fill(std::string_view text) const {
    while (!text.empty()) {
      const ssize_t size = write(fd_, text.data(), text.size());
      if (size <= 0) return false;
      text.remove_prefix(static_cast<size_t>(size));
    }
    return lseek(fd_, 0, SEEK_SET) == 0;
  }

  std::string Text() const {
    std::string text;
    std::array<char, 4096> buffer;
    for (off_t at = 0;; at = static_cast<off_t>(text.size())) {
      const ssize_t size = pread(fd_, buffer.data(), buffer.size(), at);
      if (size <= 0) return text;
      text.append(buffer.data(), static_cast<size_t>(size));
    }
  }

 private:
  const int fd_;
};

ToolResult NotRun(const std::string& program, int error) {
  return {.code = kNotRun,
          .message = absl::StrCat(program, ": ", std::generic_category().message(error))};
}

}  // namespace

ToolResult RunTool(const std::vector<std::string>& command, std::string_view input) {
  const Scratch in, out, err;
  if (in.fd() < 0 || out.fd() < 0 || err.fd() < 0 || !in.Fill(input)) {
    return NotRun(command[0], errno);
  }
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_adddup2(&files, in.fd(), STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&files, out.fd(), STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&files, err.fd(), STDERR_FILENO);
  std::vector<std::string> words = command;
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  pid_t pid = 0;
  const int error = posix_spawnp(&pid, arguments[0], &files, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&files);
  if (error != 0) return NotRun(command[0], error);
  int status = 0;
  while (waitpid(pid, &status, 0) < 0) {
    if (errno != EINTR) return NotRun(command[0], errno);
  }
  return {.code = WIFEXITED(status) ? WEXITSTATUS(status) : kNotRun,
          .output = out.Text(),
          .message = err.Text()};
}

}  // namespace levee
