// SPDX-License-Identifier: Apache-2.0
// The levee command.
#include <csignal>

#include "cli/cli.h"

int main(int argc, char** argv) {
  // A reader of standard error that goes, or a peer, must not end the process.
  std::signal(SIGPIPE, SIG_IGN);
  return levee::RunCommand(argc, argv);
}
