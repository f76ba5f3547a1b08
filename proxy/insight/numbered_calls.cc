// SPDX-License-Identifier: Apache-2.0
#include "insight/numbered_calls.h"

#include <algorithm>
#include <iterator>

namespace levee {
uint32_t SecondOf(Instant time, Instant started) {
  const int64_t whole = absl::Ceil(time - started, absl::Seconds(1)) / absl::Seconds(1);
  return static_cast<uint32_t>(std::max<int64_t>(whole, 1));
}

void NumberedCalls::Update(const std::vector<RememberedCall>& remembered, uint32_t second,
                           Instant started) {
  if (second == 0) return;
  const uint32_t first = std::min(second_ + 1, second);
  for (const RememberedCall& call : remembered) {
    const uint32_t ended = SecondOf(call.record.end, started);
    calls_.push_back({.number = std::clamp(ended, first, second),
                      .call = std::make_shared<const RememberedCall>(call)});
    if (calls_.size() > RecentCalls::kKept) calls_.pop_front();
  }
  second_ = second;
}

std::vector<NumberedCalls::Call> NumberedCalls::After(uint32_t since) const {
  std::vector<Call> calls;
  std::copy_if(calls_.begin(), calls_.end(), std::back_inserter(calls),
               [since](const Call& call) { return call.number > since; });
  return calls;
}

}  // namespace levee
