// SPDX-License-Identifier: Apache-2.0
// Writes the configuration that is in effect, for people and programs to read.
#pragma once

#include "config/positions.h"
#include "levee/config/v1/config.pb.h"
#include "settings/snapshot.h"

namespace levee {

// `config` is complete and without fault; `positions` says which of its fields were given.
EffectiveText WriteEffective(const config::v1::Config& config, const Positions& positions);

}  // namespace levee
