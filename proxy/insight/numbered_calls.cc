// SPDX-License-Identifier: Apache-2.0
#include "insight/numbered_calls.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <utility>

namespace levee {
namespace {

bool Same(const RememberedCall& one, const RememberedCall& other) {
  return one.record.start == other.record.start && one.record.end == other.record.end &&
         one.start == other.start && one.record.code == other.record.code &&
         one.record.attempts.size() == other.record.attempts.size() &&
         one.upstream == other.upstream && one.authority == other.authority &&
         one.method == other.method && one.message == other.message &&
         one.trace_id == other.trace_id;
}

}  // namespace

uint32_t SecondOf(Instant time, Instant started) {
  const int64_t whole = absl::Ceil(time - started, absl::Seconds(1)) / absl::Seconds(1);
  return static_cast<uint32_t>(std::max<int64_t>(whole, 1));
}

// Returns how many of `remembered`, from its front on, were there at the last Update.
size_t NumberedCalls::CountKnown(const std::vector<RememberedCall>& remembered) const {
  size_t known = std::min(remembered.size(), calls_.size());
  const auto are_known = [&] {
    return std::equal(calls_.end() - static_cast<std::ptrdiff_t>(known), calls_.end(),
                      remembered.begin(),
                      [](const Call& one, const auto& other) { return Same(*one.call, other); });
  };
  while (!are_known()) --known;
  return known;
}

void NumberedCalls::Update(const std::vector<RememberedCall>& remembered, uint32_t second,
                           Instant started) {
  if (second == 0) return;
  const size_t known = CountKnown(remembered);
  calls_.erase(calls_.begin(), calls_.end() - static_cast<std::ptrdiff_t>(known));
  const uint32_t first = std::min(second_ + 1, second);
  for (size_t i = known; i < remembered.size(); ++i) {
    const uint32_t ended = SecondOf(remembered[i].record.end, started);
    calls_.push_back({.number = std::clamp(ended, first, second),
                      .call = std::make_shared<const RememberedCall>(remembered[i])});
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
