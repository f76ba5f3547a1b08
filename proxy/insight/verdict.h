// SPDX-License-Identifier: Apache-2.0
// The state of an upstream in one sentence.
#pragma once

#include <cstddef>
#include <string>

#include "insight/history.h"

namespace levee {

enum class Severity {
  kCalm,       // nothing is wrong
  kContained,  // something fails, but the failures that callers see or the upstream's load is
               // bounded
  kAlarm,      // many calls fail for the callers
};

struct EndpointCounts {
  int all = 0;
  int ready = 0;
  int ejected = 0;
  int failing = 0;
};

struct Verdict {
  Severity severity = Severity::kCalm;
  std::string text;  // without end mark; at most kMaxVerdictBytes
};
inline constexpr size_t kMaxVerdictBytes = 160;

// Judges an upstream by its last `seconds` seconds (1 or more; ten are usual), by the state of its
// endpoints, and by how long its budget has been empty. The verdict answers: is the load amplified,
// and by whose retries? Who refuses, and why? Does one endpoint fail, or do all? An example is
// "storm contained; upstream 31% OK, callers 92%, amplification 1.09 of at most 1.10, budget empty
// for 40 s". The most important fact comes first; facts that do not fit are left out. Shares are
// rounded so that 100% means all and 0% means none.
Verdict Judge(const HistorySample& last, int seconds, int seconds_empty,
              const EndpointCounts& endpoints);

}  // namespace levee
