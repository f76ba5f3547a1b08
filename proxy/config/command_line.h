// SPDX-License-Identifier: Apache-2.0
// What options of the command line say in the place of files.
#pragma once

#include "config/load.h"
#include "config/merge.h"

namespace levee {

// Lays the options of `input` over what its files say. Faults of what they give name the option.
void TakeOptions(const ConfigInput& input, ReadConfig& read);

}  // namespace levee
