// SPDX-License-Identifier: Apache-2.0
// How much Levee's own code has done: a measure of CPU that is the same in every run.
#pragma once

#include <cstdint>

namespace levee {

// Returns how many edges of Levee's code (SanitizerCoverage's trace-pc) were taken so far. Code of
// libraries does not count, nor does the length of what they copy.
uint64_t WorkDone();

}  // namespace levee
