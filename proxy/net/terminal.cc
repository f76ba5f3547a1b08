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

namespace {

// Whether the output goes to a terminal that can do more than print.
bool IsScreen(int output) {
  const char* type = std::getenv("TERM");
  return isatty(output) != 0 && type != nullptr && std::string_view(type) != "dumb";
}

}  // namespace

std::optional<TerminalSize> OutputTerminal() {
  if (!IsScreen(STDOUT_FILENO)) return std::nullopt;
  winsize size{};
  // Some terminals do not know their size and report 0.
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return TerminalSize{24, 80};
  return TerminalSize{size.ws_row, size.ws_col};
}

bool ErrorsHaveColours() { return IsScreen(STDERR_FILENO); }

}  // namespace levee::net
