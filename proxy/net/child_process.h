// SPDX-License-Identifier: Apache-2.0
// Another program, run as a child of this process.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "net/event_loop.h"

namespace levee::net {

// Owns the child. The child ends at the latest with this object, or with the thread that started
// it, whatever ends that thread. One thread, the loop's.
class ChildProcess final : private ReadyHandler {
 public:
  // Called for each line that the child wrote to its standard output or error, without line end.
  using LineHandler = std::function<void(std::string_view line)>;
  // Called once, when the child has ended, with its exit code, or 128 and the signal that ended it.
  // May destroy the ChildProcess.
  using EndHandler = std::function<void(int code)>;

  // Starts `program` (a path) with `arguments`, without the program's own name. Ctrl-C at the
  // terminal does not reach the child: the parent must pass it on.
  static absl::StatusOr<std::unique_ptr<ChildProcess>> Start(
      EventLoop& loop, const std::string& program, const std::vector<std::string>& arguments,
      LineHandler on_line, EndHandler on_end);

  // Kills the child if it has not ended.
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  // Asks the child to end (SIGTERM).
  void Terminate();

  // Kills the child (SIGKILL).
  void Kill();

 private:
  ChildProcess(EventLoop& loop, int pid, int output, LineHandler on_line, EndHandler on_end);

  void OnReady(bool readable, bool writable) override;
  void TakeLines(std::string_view text);
  int Reap();

  int pid_;  // -1 once it has been reaped.
  int output_;
  LineHandler on_line_;
  EndHandler on_end_;
  std::string unfinished_line_;
  std::optional<EventLoop::Watch> watch_;
};

}  // namespace levee::net
