// SPDX-License-Identifier: Apache-2.0
#include "lab/stand_ins.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/str_format.h"
#include "base/random.h"

namespace levee {

absl::StatusOr<std::vector<RecordedCall>> WithStandIns(std::vector<RecordedCall> calls,
                                                       uint64_t seed) {
  double all = 0;
  for (const RecordedCall& call : calls) all += 1 / call.sample;
  if (all > static_cast<double>(kMostReplayedCalls)) {
    return absl::InvalidArgumentError(
        absl::StrFormat("the log stands for %.0f calls, and a replay takes %d; replay a part of it",
                        all, kMostReplayedCalls));
  }
  Random random(seed);
  const size_t recorded = calls.size();
  for (size_t i = 0; i < recorded; ++i) {
    if (calls[i].sample >= 1) continue;
    const double more = 1 / calls[i].sample - 1;
    const double whole = std::floor(more);
    const int copies = static_cast<int>(whole) + (random.Uniform() < more - whole ? 1 : 0);
    for (int copy = 0; copy < copies; ++copy) {
      RecordedCall stand_in = calls[i];
      stand_in.at += (2 * random.Uniform() - 1) * kStandInReach;
      calls.push_back(std::move(stand_in));
    }
  }
  if (calls.size() > recorded) {
    std::stable_sort(calls.begin(), calls.end(),
                     [](const RecordedCall& a, const RecordedCall& b) { return a.at < b.at; });
  }
  return calls;
}

}  // namespace levee
