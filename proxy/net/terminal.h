// The terminal that the program was started at, if there is one, and the signals that come from it.
#pragma once

#include <optional>

namespace levee::net {

struct TerminalSize {
  int rows;
  int columns;
};

// Ctrl-C, and what `kill` sends if it is not told otherwise; for EventLoop::OnSignal.
extern const int kInterruptSignal;
extern const int kTerminateSignal;

// The end of the terminal, and the customary wish that a program without one reads its
// configuration again.
extern const int kHangupSignal;

// The size of the terminal that standard output goes to. nullopt if it goes elsewhere, or to a
// terminal that cannot move its cursor.
std::optional<TerminalSize> OutputTerminal();

}  // namespace levee::net
