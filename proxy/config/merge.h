// SPDX-License-Identifier: Apache-2.0
// Merges several files into one configuration.
#pragma once

#include <optional>

#include "config/positions.h"
#include "levee/config/v1/config.pb.h"

namespace levee {

// A configuration as read; its defaults are filled in later.
struct ReadConfig {
  config::v1::Config config;
  Positions positions;
};

// Lays `later` over `base`. An entry of a list with names replaces the entry of the same name and
// keeps its place in the order, or is appended. Other lists (routes) are replaced as a whole. Other
// fields are replaced if `later` gives them. A name that `later` itself has twice stays twice, to
// be reported. Returns the first entry of `base` that was replaced; nullopt if there was none.
std::optional<ReplacedEntry> Merge(const ReadConfig& later, ReadConfig& base);

}  // namespace levee
