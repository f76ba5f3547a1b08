// Several files, one configuration.
#pragma once

#include "config/positions.h"
#include "levee/config/v1/config.pb.h"

namespace levee {

// A configuration as read, before its defaults are filled in.
struct ReadConfig {
  config::v1::Config config;
  Positions positions;
};

// Lays `later` over `base`. Entries of lists with names replace those of the same name and keep
// their place in the order, or are appended; other lists (routes) are replaced as a whole; of
// everything else, the fields that `later` gives. A name that `later` itself has twice is kept
// twice, to be reported.
void Merge(const ReadConfig& later, ReadConfig& base);

}  // namespace levee
