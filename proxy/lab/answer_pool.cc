// SPDX-License-Identifier: Apache-2.0
#include "lab/answer_pool.h"

#include <iterator>

namespace levee {

void AnswerPool::Add(int64_t second, const RecordedAttempt& attempt) {
  endpoints_[attempt.endpoint][second].push_back(&attempt);
  all_[second].push_back(&attempt);
}

const RecordedAttempt& AnswerPool::Draw(const std::string& endpoint, int64_t second,
                                        Random& random) const {
  const auto known = endpoints_.find(endpoint);
  const BySecond& from = known == endpoints_.end() ? all_ : known->second;
  auto nearest = from.lower_bound(second);
  if (nearest == from.end()) {
    nearest = std::prev(nearest);
  } else if (nearest != from.begin()) {
    const auto before = std::prev(nearest);
    if (second - before->first < nearest->first - second) nearest = before;
  }
  return *nearest->second[static_cast<size_t>(random.Below(nearest->second.size()))];
}

}  // namespace levee
