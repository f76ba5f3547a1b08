// SPDX-License-Identifier: Apache-2.0
// A replay for people and for programs.
#pragma once

#include <string>

#include "lab/replay.h"

namespace levee {

// Returns text for a terminal of 80 columns.
std::string ReplayText(const Replay& replay);

// Returns {recorded, replayed: [...]}; docs/lab.md has the fields.
std::string ReplayJson(const Replay& replay);

// Returns one file that loads nothing.
std::string ReplayHtml(const Replay& replay);

}  // namespace levee
