// The terminal that the program was started at, if there is one.
#pragma once

#include <optional>

namespace levee::net {

struct TerminalSize {
  int rows;
  int columns;
};

// The size of the terminal that standard output goes to. nullopt if it goes elsewhere, or to a
// terminal that cannot move its cursor.
std::optional<TerminalSize> OutputTerminal();

}  // namespace levee::net
