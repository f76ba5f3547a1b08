// SPDX-License-Identifier: Apache-2.0
// The calls that end when the caller of the call that they follow has gone.
#pragma once

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/inlined_vector.h"
#include "guard/tie_table.h"

namespace levee {

class RpcStream;

// One worker's, by trace. One thread.
class FollowingCalls {
 public:
  void Add(TraceNumber trace, RpcStream& call) { calls_[trace].push_back(&call); }

  // Does nothing if the call was not added.
  void Remove(TraceNumber trace, RpcStream& call) {
    const auto found = calls_.find(trace);
    if (found == calls_.end()) return;
    Calls& calls = found->second;
    const auto place = absl::c_find(calls, &call);
    if (place != calls.end()) calls.erase(place);
    if (calls.empty()) calls_.erase(found);
  }

  using Calls = absl::InlinedVector<RpcStream*, 2>;

  // Returns a copy, since calls that are told to end remove themselves.
  Calls Of(TraceNumber trace) const {
    const auto found = calls_.find(trace);
    return found == calls_.end() ? Calls() : found->second;
  }

 private:
  absl::flat_hash_map<TraceNumber, Calls> calls_;
};

}  // namespace levee
