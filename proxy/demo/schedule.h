// When the demo does what: two runs of three phases each, in a given time.
#pragma once

#include <string_view>

#include "absl/time/time.h"

namespace levee::demo {

enum class Phase { kCalm, kStorm, kRecovery };

std::string_view PhaseName(Phase phase);

// One run, from its start. Also the shape of its picture.
struct Schedule {
  // Too short a storm would not build up, and too short a calm is no yardstick.
  static constexpr absl::Duration kShortest = absl::Seconds(15);

  absl::Duration calm;
  absl::Duration storm;
  absl::Duration recovery;

  // For two runs, and what is around them, within `total`.
  static Schedule Within(absl::Duration total);

  absl::Duration length() const { return calm + storm + recovery; }
  absl::Duration storm_end() const { return calm + storm; }

  // `at`: since the run's start; later than its end is still recovery.
  Phase At(absl::Duration at) const;
};

}  // namespace levee::demo
