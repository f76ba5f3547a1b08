// SPDX-License-Identifier: Apache-2.0
#include "fuzz/work_count.h"

namespace levee {
namespace {

// Fuzz targets have one thread that counts.
uint64_t work = 0;

}  // namespace

uint64_t WorkDone() { return work; }

// The compiler calls __sanitizer_cov_trace_pc at each edge. The fuzzing engine's own refuses to
// work, so the linker puts this one in its place.
extern "C" void __wrap___sanitizer_cov_trace_pc();  // NOLINT(bugprone-reserved-identifier)
extern "C" __attribute__((no_sanitize("coverage"))) void __wrap___sanitizer_cov_trace_pc() {
  ++work;
}

}  // namespace levee
