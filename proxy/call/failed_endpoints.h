// SPDX-License-Identifier: Apache-2.0
// The endpoints on which attempts of one call have failed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/container/inlined_vector.h"

namespace levee {

// Each stands in it once: two attempts of a hedged call may end on one endpoint. One thread.
class FailedEndpoints {
 public:
  // `forbidden`: the endpoint takes no further attempt of the call.
  void Add(int64_t endpoint, bool forbidden) {
    auto found = absl::c_find(list_, endpoint);
    if (found == list_.end()) found = list_.insert(found, endpoint);
    if (!forbidden || found < list_.begin() + static_cast<ptrdiff_t>(forbidden_)) return;
    std::swap(*found, list_[forbidden_++]);
  }

  std::span<const int64_t> all() const { return list_; }
  std::span<const int64_t> forbidden() const { return all().first(forbidden_); }

 private:
  absl::InlinedVector<int64_t, 2> list_;  // those that are forbidden stand first
  size_t forbidden_ = 0;
};

}  // namespace levee
