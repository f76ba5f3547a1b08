// SPDX-License-Identifier: Apache-2.0
// Puts Levee into the workloads of a YAML text, and takes it out again.
#pragma once

#include <string>
#include <vector>

#include "config/fault.h"
#include "inject/sidecar_yaml.h"

namespace levee::inject {

struct Injected {
  std::string text;  // empty if there are faults
  std::vector<Fault> faults;
  std::vector<std::string> notes;  // what a user should know, each a line: "FILE:LINE: ..."
};

// Returns `text`, which `file` names in faults, with Levee in every workload that has none yet: a
// native sidecar, the volume with its policy, the label. Everything else stays byte for byte. A
// workload that cannot have it is a fault, and then nothing is changed. One of a kind that is not
// known is a fault, too, unless `options` say that such objects have pods.
Injected Inject(const std::string& file, const std::string& text, const InjectOptions& options);

// Returns `text` without what Inject has put into it, in whatever way somebody has changed that
// since. The rest stays byte for byte.
Injected Remove(const std::string& file, const std::string& text);

}  // namespace levee::inject
