// SPDX-License-Identifier: Apache-2.0
// What a log says against values of a policy: the answer of `levee advise`.
#pragma once

#include <string>
#include <vector>

#include "lab/recorded_calls.h"
#include "settings/snapshot.h"

namespace levee {

// A value that a field of a policy should have.
struct AdviceLine {
  std::string field;  // "retry.max_attempts"
  std::string value;
  std::string evidence;
};

struct PolicyAdvice {
  std::string policy;
  int64_t calls = 0;   // that it has decided on: those of the log, and those that they stand for
  int64_t logged = 0;  // of these, the ones that a sampled log has
  std::vector<AdviceLine> lines;
};

// Returns the advice for each policy that the routes give calls of the log to. A call of a sampled
// log counts as many as it stands for. Where a log has too little to say, nothing is advised.
std::vector<PolicyAdvice> Advise(const std::vector<RecordedCall>& calls, const Snapshot& snapshot);

// Returns the advice as a part of a policy file with the evidence as comments. `replay`: the
// command that proves it.
std::string AdviceText(const std::vector<PolicyAdvice>& advice, const std::string& replay);

}  // namespace levee
