// SPDX-License-Identifier: Apache-2.0
// Says which parts of a configuration with faults can be relied on.
#pragma once

#include <initializer_list>
#include <string>
#include <vector>

#include "config/fault.h"
#include "config/positions.h"

namespace levee {

class KnownParts {
 public:
  // `faults`: all that were found. `positions` must outlive this object.
  KnownParts(const Positions& positions, const FaultList& faults);

  // Whether no fault is at `path`, below it, or at a value that encloses it.
  bool Knows(const std::string& path) const;

  // Whether that holds for each of the `fields` of the message at `path`.
  bool KnowsAll(const std::string& path, std::initializer_list<const char*> fields) const;

  // Whether no field below `path` has an unknown name. Such a field may have been meant for any
  // other there.
  bool KnowsNames(const std::string& path) const;

  // Whether a field of the whole configuration has an unknown name, or not all faults are at hand.
  bool vague() const { return vague_; }

 private:
  const Positions& positions_;
  const std::vector<Fault> faults_;
  bool vague_;
};

}  // namespace levee
