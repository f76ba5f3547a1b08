// SPDX-License-Identifier: Apache-2.0
// The levee command.
#include "cli/cli.h"

int main(int argc, char** argv) { return levee::RunCommand(argc, argv); }
