// What goes on at an upstream, in one sentence.
#pragma once

#include <cstddef>
#include <string>

#include "insight/history.h"

namespace levee {

enum class Severity {
  kCalm,       // nothing to see
  kContained,  // something fails, and what callers see or what the upstream gets is bounded
  kAlarm,      // callers suffer
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

// From the last `seconds` (1 or more; ten are usual), the endpoints now, and how long the budget
// has been empty: is load amplified, by whose retries; who refuses and why; is it one endpoint or
// all. "storm contained; upstream 31% OK, callers 92%, amplification 1.09 of at most 1.10, budget
// empty for 40 s". The most important comes first, and what does not fit is left out. Shares are
// rounded so that 100% and 0% mean all and none.
Verdict Judge(const HistorySample& last, int seconds, int seconds_empty,
              const EndpointCounts& endpoints);

}  // namespace levee
