// SPDX-License-Identifier: Apache-2.0
#include "net/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <string_view>

namespace levee::net {

const int kInterruptSignal = SIGINT;
const int kTerminateSignal = SIGTERM;
const int kHangupSignal = SIGHUP;

std::optional<TerminalSize> OutputTerminal() {
  if (isatty(STDOUT_FILENO) == 0) return std::nullopt;
  const char* type = std::getenv("TERM");
  if (type == nullptr || std::string_view(type) == "dumb") return std::nullopt;
  winsize size{};
  // Some terminals do not know their size and report 0.
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return TerminalSize{24, 80};
  return TerminalSize{size.ws_row, size.ws_col};
}

}  // namespace levee::net
