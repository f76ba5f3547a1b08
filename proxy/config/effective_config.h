// The configuration that is in effect, for people and programs to read.
#pragma once

#include <string>
#include <utility>

#include "config/positions.h"
#include "levee/config/v1/config.pb.h"

namespace levee {

// Every field with its value, those that no file gives included. Immutable; any thread.
class EffectiveConfig {
 public:
  // `config` is complete and without fault; `positions` says which of its fields were given.
  EffectiveConfig(config::v1::Config config, Positions positions)
      : config_(std::move(config)), positions_(std::move(positions)) {}

  // A file that means the same wherever it is read; behind each value that is a default stands
  // "# default".
  std::string Yaml() const;

  // {"config": {...}, "defaults": ["metrics.address", ...]}: the fields that nobody gave, by path.
  std::string Json() const;

 private:
  const config::v1::Config config_;
  const Positions positions_;
};

}  // namespace levee
