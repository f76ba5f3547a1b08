// SPDX-License-Identifier: Apache-2.0
// What the endpoints of a log answered, second by second, to draw the answers of attempts that were
// never made.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "base/random.h"
#include "lab/recorded_calls.h"

namespace levee {

// Of one destination. The calls outlive it.
class AnswerPool {
 public:
  // `second`: of the replay.
  void Add(int64_t second, const RecordedAttempt& attempt);

  // Returns an attempt of the endpoint in that second; else of the second that is nearest in which
  // it was tried; else, if it never was, of any endpoint. There is at least one attempt in the
  // pool.
  const RecordedAttempt& Draw(const std::string& endpoint, int64_t second, Random& random) const;

 private:
  using BySecond = std::map<int64_t, std::vector<const RecordedAttempt*>>;

  std::map<std::string, BySecond> endpoints_;
  BySecond all_;
};

}  // namespace levee
