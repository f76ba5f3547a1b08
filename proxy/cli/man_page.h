// SPDX-License-Identifier: Apache-2.0
// Manual pages, written from the definition of the command line.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/command_tree.h"

namespace levee {

struct ManPage {
  std::string file;  // its name, as levee-import-envoy.1
  std::string text;  // in the man macros of troff
};

// Returns the pages of `command` and of all commands below it. `version` is in the footer of each.
std::vector<ManPage> ManPages(const CommandDescription& command, std::string_view version);

}  // namespace levee
