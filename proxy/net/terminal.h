// SPDX-License-Identifier: Apache-2.0
// The terminal that the program was started from, if any, and the signals that come from it.
#pragma once

#include <optional>

namespace levee::net {

struct TerminalSize {
  int rows;
  int columns;
};

// Ctrl-C, and the default signal of `kill`; for EventLoop::OnSignal.
extern const int kInterruptSignal;
extern const int kTerminateSignal;

// The end of the terminal. To a program without a terminal this signal customarily means: read the
// configuration again.
extern const int kHangupSignal;

// Returns the size of the terminal that standard output goes to; nullopt if it goes elsewhere, or
// to a terminal that cannot move its cursor.
std::optional<TerminalSize> OutputTerminal();

// Whether standard error goes to a terminal that knows colours.
bool ErrorsHaveColours();

}  // namespace levee::net
