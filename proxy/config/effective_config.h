// The effective configuration, for people and programs to read.
#pragma once

#include <string>
#include <utility>

#include "config/positions.h"
#include "levee/config/v1/config.pb.h"

namespace levee {

// Every field with its value, also the fields that no file gives. Immutable; any thread.
class EffectiveConfig {
 public:
  // `config` must be complete and without fault; `positions` says which of its fields were given.
  EffectiveConfig(config::v1::Config config, Positions positions)
      : config_(std::move(config)), positions_(std::move(positions)) {}

  // Returns a file that means the same wherever it is read. "# default" follows each value that is
  // a default.
  std::string Yaml() const;

  // Returns {"config": {...}, "defaults": ["metrics.address", ...]}; the defaults are the paths of
  // the fields that no file gives.
  std::string Json() const;

 private:
  const config::v1::Config config_;
  const Positions positions_;
};

}  // namespace levee
