// SPDX-License-Identifier: Apache-2.0
#include "demo/schedule.h"

namespace levee::demo {
namespace {

// The time to start the sidecar, to let the calls of a run end, and to drain the sidecar.
constexpr absl::Duration kAround = absl::Seconds(4);

}  // namespace

std::string_view PhaseName(Phase phase) {
  switch (phase) {
    case Phase::kCalm:
      return "calm";
    case Phase::kStorm:
      return "storm";
    case Phase::kRecovery:
      return "recovery";
  }
  return "";
}

Schedule Schedule::Within(absl::Duration total) {
  const absl::Duration run = (total - kAround) / 2;
  return {.calm = run * 0.15, .storm = run * 0.35, .recovery = run * 0.5};
}

Phase Schedule::At(absl::Duration at) const {
  if (at < calm) return Phase::kCalm;
  return at < storm_end() ? Phase::kStorm : Phase::kRecovery;
}

}  // namespace levee::demo
