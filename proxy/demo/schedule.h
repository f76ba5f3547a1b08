// SPDX-License-Identifier: Apache-2.0
// The timetable of the demo: two runs of three phases each, in a given time.
#pragma once

#include <string_view>

#include "absl/time/time.h"

namespace levee::demo {

enum class Phase { kCalm, kStorm, kRecovery };

std::string_view PhaseName(Phase phase);

// The phases of one run, counted from its start; also the shape of its picture.
struct Schedule {
  // A shorter storm would not build up, and a shorter calm is no measure.
  static constexpr absl::Duration kShortest = absl::Seconds(15);

  absl::Duration calm;
  absl::Duration storm;
  absl::Duration recovery;

  // Returns a schedule with which two runs, and the work around them, take `total`.
  static Schedule Within(absl::Duration total);

  absl::Duration length() const { return calm + storm + recovery; }
  absl::Duration storm_end() const { return calm + storm; }

  // Returns the phase at `at`, which counts from the run's start. After the run's end it is
  // recovery.
  Phase At(absl::Duration at) const;
};

}  // namespace levee::demo
